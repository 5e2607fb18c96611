package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/profiles"
)

// profilesCommand declares the command profiles.
func (p *program) profilesCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	profiles := app.Command("profiles", "The shipped configurations.")
	profiles.Command("list", "List the shipped configurations; the command when none is given.").Default().Action(do(p.listProfiles))
	var name, dir string
	show := profiles.Command("show", "Print a profile's configuration and rules as plain files, as a start for your own.")
	show.Arg("name", "The profile.").Required().StringVar(&name)
	show.Flag("write", "Write the files below this directory instead; existing files are not changed.").PlaceHolder("DIR").StringVar(&dir)
	p.kuryrConfFlag(show)
	p.setFlag(show)
	show.Action(do(func() int { return p.showProfile(name, dir) }))
}

// profileOptions returns the options of the profile that flags and environment select.
func (p *program) profileOptions() profiles.Options {
	return profiles.Options{
		Name: p.profile, KuryrConf: p.kuryrConf, Set: p.set, Rules: p.rules, FromEnvironment: p.fromEnvironment, Adjust: p.adjust,
		Debug: func() {
			if p.log != nil && !p.levelGiven {
				_ = p.log.Level.Set("debug")
			}
		},
	}
}

// listProfiles is the command profiles list.
func (p *program) listProfiles() int {
	for _, pr := range profiles.All() {
		fmt.Fprintf(p.stdout, "%-18s %s\n", pr.Name, pr.About)
	}
	return exitOK
}

// showProfile prints a profile's files, or writes them to a directory.
func (p *program) showProfile(name, dir string) int {
	pr, err := profiles.Find(name)
	if err != nil {
		return p.fail(err)
	}
	given := len(p.set) > 0 || p.kuryrConf != ""
	p.profile = name
	p.environment(os.Environ())
	where, err := filepath.Abs(dir)
	if err != nil {
		return p.fail(err)
	}
	files, note, err := pr.Files(p.profileOptions(), given, where)
	if err != nil {
		return p.fail(err)
	}
	if note != "" {
		fmt.Fprintln(p.stderr, note)
	}
	if dir == "" {
		p.printFiles(files)
		return exitOK
	}
	if err := p.writeFiles(dir, files); err != nil {
		return p.fail(err)
	}
	return exitOK
}

// printFiles prints a profile's files, except secrets.
func (p *program) printFiles(files map[string]string) {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		if strings.HasPrefix(path, profiles.Secrets) {
			text = "# a secret: --write writes it\n"
		}
		fmt.Fprintf(p.stdout, "# ---- %s\n%s\n", path, text)
	}
}

// writeFiles writes a profile's files below a directory, except those that exist.
func (p *program) writeFiles(dir string, texts map[string]string) error {
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		switch err := files.WriteNew(filepath.Join(dir, path), texts[path], strings.HasPrefix(path, profiles.Secrets)); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(p.stdout, "skipped %s: the file exists\n", filepath.Join(dir, path))
		case err != nil:
			return err
		default:
			fmt.Fprintf(p.stdout, "wrote %s\n", filepath.Join(dir, path))
		}
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kingpin/v2"

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
	p.setFlag(show)
	show.Action(do(func() int { return p.showProfile(name, dir) }))
}

// profileOptions returns the options of the profile that flags and environment select.
func (p *program) profileOptions() profiles.Options {
	return profiles.Options{
		Name: p.profile, KuryrConf: p.kuryrConf, Set: p.set, FromEnvironment: p.fromEnvironment, Adjust: p.adjust,
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
	given := len(p.set) > 0
	p.profile = name
	p.environment(os.Environ())
	files, note, err := pr.Files(p.profileOptions(), given)
	if err != nil {
		return p.fail(err)
	}
	if note != "" {
		fmt.Fprintln(p.stderr, note)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if dir == "" {
			fmt.Fprintf(p.stdout, "# ---- %s\n%s\n", path, files[path])
			continue
		}
		full := filepath.Join(dir, path)
		switch err := writeNew(full, files[path]); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(p.stdout, "skipped %s: the file exists\n", full)
		case err != nil:
			return p.fail(err)
		default:
			fmt.Fprintf(p.stdout, "wrote %s\n", full)
		}
	}
	return exitOK
}

// writeNew writes a file that does not exist yet.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

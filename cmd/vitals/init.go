package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/files"
	"github.com/vitals-health/vitals/internal/firstconfig"
	"github.com/vitals-health/vitals/internal/firstrules"
	"github.com/vitals-health/vitals/internal/schema"
	"github.com/vitals-health/vitals/internal/text"
)

// initCommand declares the command init.
func (p *program) initCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("init", "Write a first configuration with rules and their tests, from what this host or pod shows: variables, listening sockets, services, a service account. It opens no connection. A password in a URL gets a file of its own, which only its owner may read (mode 0600).")
	var r firstconfig.Requests
	dir := cmd.Flag("write", "The directory for vitals.yml, rules.yml, rules_test.yml and files with passwords. If one of them exists, nothing is written.").Default(".").String()
	root := cmd.Flag("root", "The root directory of the host, for a container that mounts it elsewhere.").Default("/").ExistingDir()
	for _, f := range []struct {
		name, holder, help string
		to                 *[]string
	}{
		{"http", "URL", "Measure a web server", &r.HTTP},
		{"tcp", "ADDRESS", "Measure a server that accepts connections, at host:port or unix:/path", &r.TCP},
		{"grpc", "ADDRESS", "Measure a gRPC server with a health service, at host:port", &r.GRPC},
		{"dns", "NAME", "Measure whether a name is resolved", &r.DNS},
		{"ntp", "HOST", "Measure the clock of an NTP server", &r.NTP},
		{"postgres", "FILE", "Measure the PostgreSQL of which a file has the URL", &r.Postgres},
		{"redis", "FILE", "Measure the Redis of which a file has the URL", &r.Redis},
		{"scrape", "URL", "Read the metrics of a component", &r.Scrape},
		{"process", "NAME", "Measure whether a process with this name runs", &r.Process},
		{"file", "PATH", "Measure whether a file exists", &r.File},
		{"unit", "UNIT", "Measure a unit of systemd", &r.Unit},
		{"watch", "RESOURCE", "Watch a resource of the Kubernetes API, such as pods", &r.Watch},
	} {
		cmd.Flag(f.name, f.help+". Repeatable.").PlaceHolder(f.holder).StringsVar(f.to)
	}
	cmd.Action(do(func() int {
		host := firstconfig.Host{Root: os.DirFS(*root), Environment: os.Environ()}
		return p.writeFirst(host, r, *dir)
	}))
}

// writeFirst is the command init.
func (p *program) writeFirst(host firstconfig.Host, r firstconfig.Requests, dir string) int {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return p.fail(err)
	}
	found, err := firstconfig.Find(host, r, absolute)
	if err != nil {
		return p.fail(err)
	}
	if found.Kuryr != "" && !r.Any() {
		return p.printKuryr(found)
	}
	path := filepath.Join(dir, firstconfig.ConfigName)
	names := []string{firstconfig.ConfigName, firstconfig.RulesName, firstconfig.TestsName}
	for _, c := range found.Collectors {
		if c.Password != "" {
			names = append(names, c.PasswordFile())
		}
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return p.fail(fmt.Errorf("%s exists and is not changed: choose another directory with --write=DIR; \"vitals generate rules --config.file=%s\" writes rules for new collectors of a configuration", filepath.Join(dir, name), path))
		}
	}
	text := found.Config(p.unusable(path))
	texts, err := p.firstFiles(path, text)
	if err != nil {
		return p.fail(err)
	}
	p.printFound(found)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := files.WriteNew(filepath.Join(dir, name), texts[name], false); err != nil {
			return p.fail(err)
		}
		fmt.Fprintf(p.stdout, "wrote %s\n", filepath.Join(dir, name))
	}
	for _, c := range found.Collectors {
		if c.Password == "" {
			continue
		}
		file := filepath.Join(dir, c.PasswordFile())
		if err := files.WriteNew(file, c.Password.Value()+"\n", true); err != nil {
			return p.fail(err)
		}
		fmt.Fprintf(p.stdout, "wrote %s with mode 0600: the password of %s\n", file, c.Name)
	}
	fmt.Fprintf(p.stdout, "\nNext, measure once, test the rules, and serve the states:\n  vitals check collectors --config.file=%[1]s\n  vitals test rules %[2]s\n  vitals run --config.file=%[1]s\n", path, filepath.Join(dir, firstconfig.TestsName))
	return exitOK
}

// loadText loads the text of a configuration without rule files.
func (p *program) loadText(path, text string) (*config.Loaded, error) {
	l, errs := config.Load(config.NewSources(), path, []byte(text), func(c *config.Config) []error {
		c.RuleFiles = nil
		return nil
	})
	p.secrets.Add(l.Secrets...)
	return l, errors.Join(errs...)
}

// unusable returns a function that returns why a collector cannot be made here, in one line, or "".
// It starts nothing.
func (p *program) unusable(path string) func(name, entry string) string {
	return func(name, entry string) string {
		l, err := p.loadText(path, entry)
		if err == nil {
			b := config.Builder{Logger: slog.New(slog.DiscardHandler), Secrets: p.secrets}
			_, _, err = b.Build(l)
		}
		if err == nil {
			return ""
		}
		reason := err.Error()
		if _, after, ok := strings.Cut(reason, fmt.Sprintf("collector %q: ", name)); ok {
			reason = after
		}
		return text.Line(reason, 200)
	}
}

// firstFiles returns the files of a first configuration by their names.
func (p *program) firstFiles(path, configuration string) (map[string]string, error) {
	l, err := p.loadText(path, configuration)
	if err != nil {
		return nil, err
	}
	made, err := firstrules.Make(l.Config.Collectors, nil, firstrules.Options{Head: firstconfig.RulesHead, RulesName: firstconfig.RulesName})
	if err != nil {
		return nil, err
	}
	return map[string]string{
		firstconfig.ConfigName: configuration,
		firstconfig.RulesName:  schema.Modeline(schema.RulesName) + "\n" + string(made.Rules),
		firstconfig.TestsName:  string(made.Tests),
	}, nil
}

// printFound prints what was found, and what was not used.
func (p *program) printFound(f *firstconfig.Found) {
	for _, c := range f.Collectors {
		fmt.Fprintf(p.stdout, "%s (%s): %s\n", c.Name, c.Kind, c.Source)
	}
	if len(f.Collectors) == 0 {
		fmt.Fprintln(p.stdout, "found no service; vitals.yml measures the disk, and has examples in comments")
	}
	for _, remark := range f.Remarks {
		fmt.Fprintf(p.stdout, "note: %s\n", remark)
	}
	const most = 10
	if n := len(f.Others); n > 0 {
		fmt.Fprintf(p.stdout, "note: not known, for --tcp=ADDRESS, --http=URL or --scrape=URL: %s\n", strings.Join(f.Others[:min(n, most)], ", "))
	}
}

// printKuryr prints the profile for a kuryr.conf.
func (p *program) printKuryr(f *firstconfig.Found) int {
	flags := fmt.Sprintf("--profile=%s --kuryr.conf=%s", f.Profile, f.Kuryr)
	fmt.Fprintf(p.stdout, "%[1]s exists: the profile %[2]s has collectors and rules for it, and reads it at each start.\nNothing is written. With --http=URL or another flag, this command writes a configuration of your own.\n\nNext, check it, measure once, and serve the states:\n  vitals check config %[3]s\n  vitals check collectors %[3]s\n  vitals run %[3]s\n", f.Kuryr, f.Profile, flags)
	return exitOK
}

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

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// showProfile prints a profile's files, or writes them to a directory.
func (p *program) showProfile(name, dir string) int {
	pr, err := findProfile(name)
	if err != nil {
		return p.fail(err)
	}
	config, err := p.shownConfig(pr)
	if err != nil {
		return p.fail(err)
	}
	files := plainFiles(config)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if dir == "" {
			fmt.Fprintf(p.stdout, "# ---- %s\n%s\n", path, files[path])
			continue
		}
		full := filepath.Join(dir, path)
		switch err := writeNew(full, files[path]); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(p.stdout, "left %s alone, which exists\n", full)
		case err != nil:
			return p.fail(err)
		default:
			fmt.Fprintf(p.stdout, "wrote %s\n", full)
		}
	}
	return exitOK
}

// shownConfig is the profile's configuration file: as it is shipped or, where the
// variables make it, with what they made.
func (p *program) shownConfig(pr profile) (string, error) {
	given := len(p.set) > 0
	p.profile = pr.name
	p.environment(os.Environ())
	switch {
	case !pr.made && given:
		return "", fmt.Errorf("profile %s: --set changes nothing of its plain files, expected no such flag: write them, and change them there", pr.name)
	case !pr.made:
		return string(pr.config()), nil
	case p.set["service"] == "" && !given:
		fmt.Fprintf(p.stderr, "no service: the collectors and rule files are comments only; --set service=NAME makes those of a service\n")
		return string(pr.config()), nil
	}
	l, errs := p.loadProfile()
	if len(errs) > 0 {
		return "", errors.Join(errs...)
	}
	return pr.madeConfig(&l.cfg)
}

// madeConfig is the shipped file with the collectors and rule files of c instead of the
// comments at its end that stand for them. It has no secret, and says what it lacks.
func (pr profile) madeConfig(c *Config) (string, error) {
	head, _, _ := strings.Cut(string(pr.config()), "# One of these, or several")
	for i := range c.Collectors {
		if k := c.Collectors[i].TCP; k != nil && k.Password != "" {
			k.Password = ""
			head += fmt.Sprintf("# The password of the collector %[1]s is left out: put it into a file that only Vitals may\n# read, and the path of that file below %[1]s as password_file, beside the address.\n", c.Collectors[i].Name)
		}
	}
	made, err := strictyaml.Encode(Config{RuleFiles: c.RuleFiles, Collectors: c.Collectors})
	if err != nil {
		return "", fmt.Errorf("print profile %s: %w", pr.name, err)
	}
	// Nothing in there is a reference to the environment or to a file.
	return head + strings.ReplaceAll(string(made), "${", "$${"), nil
}

// plainFiles are a configuration with the shipped rule files that it names, also in
// comments: vitals.yml and rules/NAME.yml.
func plainFiles(config string) map[string]string {
	files := map[string]string{}
	entries, _ := fs.ReadDir(rules.Shipped(), ".")
	for _, e := range entries {
		reference := builtinPrefix + strings.TrimSuffix(e.Name(), ".yml")
		if !strings.Contains(config, reference+"\n") {
			continue
		}
		data, _ := fs.ReadFile(rules.Shipped(), e.Name())
		config = strings.ReplaceAll(config, reference+"\n", "rules/"+e.Name()+"\n")
		files["rules/"+e.Name()] = string(data)
	}
	files["vitals.yml"] = config
	return files
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

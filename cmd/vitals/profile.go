package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

//go:embed profiles/*.yml
var shippedProfiles embed.FS

// profile is a shipped configuration.
type profile struct {
	name, about string
	// adjust applies what the flags say to the configuration. What else it reads, it
	// reads as a part of the configuration's sources.
	adjust func(p *program, from *sources, c *Config) []error
}

// profiles returns the shipped configurations.
func profiles() []profile {
	return []profile{
		{"kuryr-controller", "the Kuryr-Kubernetes controller's health manager: /ready and /alive on port 8082", adjustKuryrController},
		{"kuryr-cni", "the health manager of Kuryr-Kubernetes' CNI daemon: /ready and /alive on port 8090", adjustKuryrCNI},
		{"sonic", "a SONiC container: what readiness_probe.sh and the listener for critical processes watch, with their exit codes", adjustSonic},
		{"tripleo", "a container of TripleO, by the name of its service: what its /openstack/healthcheck told", adjustTripleo},
	}
}

func findProfile(name string) (profile, error) {
	var names []string
	for _, pr := range profiles() {
		if pr.name == name {
			return pr, nil
		}
		names = append(names, pr.name)
	}
	return profile{}, fmt.Errorf("there is no profile %q: expected one of %s", name, strings.Join(names, ", "))
}

// config is the profile's configuration file.
func (pr profile) config() []byte {
	data, err := shippedProfiles.ReadFile("profiles/" + pr.name + ".yml")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return data
}

// loadProfile loads the profile that the flags name.
func (p *program) loadProfile() (*loaded, []error) {
	pr, err := findProfile(p.profile)
	if err != nil {
		return &loaded{sources: newSources()}, []error{err}
	}
	from := newSources()
	return load(from, builtinPrefix+pr.name, pr.config(), func(c *Config) []error {
		errs := pr.adjust(p, from, c)
		if p.adjust != nil {
			p.adjust(c)
		}
		return errs
	})
}

// listProfiles is the command profiles list.
func (p *program) listProfiles() int {
	for _, pr := range profiles() {
		fmt.Fprintf(p.stdout, "%-18s %s\n", pr.name, pr.about)
	}
	return exitOK
}

// showProfile prints a profile's files, or writes them to a directory.
func (p *program) showProfile(name, dir string) int {
	pr, err := findProfile(name)
	if err != nil {
		return p.fail(err)
	}
	files := pr.files()
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

// files are the profile as plain files: vitals.yml and rules/NAME.yml.
func (pr profile) files() map[string]string {
	config := string(pr.config())
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

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/tripleo"
)

// withoutPasswords takes the passwords away, and says how many there were.
func withoutPasswords(c *Config) int {
	n := 0
	c.eachKind(func(k *kinds.Kinds) {
		if k.TCP != nil && k.TCP.Password != "" {
			k.TCP.Password = ""
			n++
		}
	})
	return n
}

// The plain files of each service are the configuration that the profile makes, but for
// the passwords: those they ask for.
func TestTripleoPlainFiles(t *testing.T) {
	t.Parallel()
	c := newContainer(t)
	c.install(t)
	for _, s := range tripleo.Services() {
		t.Run(s.Name, func(t *testing.T) {
			settings := append(tripleoArguments(s), "service="+s.Name)
			made := c.config(t, settings...)
			passwords := withoutPasswords(made)
			dir := t.TempDir()
			var out bytes.Buffer
			if code := c.program(&out, settings...).showProfile("tripleo", dir); code != exitOK {
				t.Fatalf("showProfile = %d %s%s, want 0", code, &out, &c.log)
			}
			file := filepath.Join(dir, "vitals.yml")
			p := c.program(&out)
			p.configFile, p.profile, p.set = file, "", nil
			if code := p.checkConfig(false, p.reporter()); code != exitOK {
				t.Errorf("check config = %d %s%s, want 0", code, &out, &c.log)
			}
			l, errs := loadFile(file)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			for i, r := range made.RuleFiles {
				made.RuleFiles[i] = "rules/" + strings.TrimPrefix(r, builtinPrefix) + ".yml"
			}
			if !reflect.DeepEqual(&l.cfg, made) {
				t.Errorf("the files say\n%+v\nwant\n%+v", &l.cfg, made)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), " as password_file, "); n != passwords {
				t.Errorf("%d passwords are asked for, want %d:\n%s", n, passwords, text)
			}
			if strings.Contains(string(text), "s3cret") || strings.Contains(string(text), "<secret>") {
				t.Errorf("the file shows a secret, or a mask instead of one:\n%s", text)
			}
		})
	}
}

// What looks like a reference in a value stays as it is.
func TestMadeConfigKeepsDollars(t *testing.T) {
	f := &file.Config{Path: "/${HOME}/$${x}"}
	f.SetDefaults()
	entry := kinds.Config{Name: "f", Kinds: kinds.Kinds{File: f}}
	entry.SetDefaults()
	text, err := profile{name: "tripleo"}.madeConfig(&Config{Collectors: []kinds.Config{entry}})
	if err != nil {
		t.Fatal(err)
	}
	l, errs := load(newSources(), "vitals.yml", []byte(text), nil)
	if len(errs) > 0 || len(l.cfg.Collectors) != 1 || l.cfg.Collectors[0].File.Path != f.Path {
		t.Errorf("load(%s) = %+v, %v, want the path %s", text, l.cfg.Collectors, errs, f.Path)
	}
}

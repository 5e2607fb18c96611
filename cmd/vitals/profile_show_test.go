package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

// withoutPasswords removes the passwords, and returns their number.
func withoutPasswords(c *config.Config) int {
	n := 0
	forEachKind(c, func(k *kinds.Kinds) {
		if k.TCP != nil && k.TCP.Password != "" {
			k.TCP.Password = ""
			n++
		}
	})
	return n
}

// The plain files of each service are the configuration of the profile without the
// passwords: comments name the keys to set.
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
			l, errs := config.LoadFile(file)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			for i, r := range made.RuleFiles {
				made.RuleFiles[i] = "rules/" + strings.TrimPrefix(r, config.BuiltinPrefix) + ".yml"
			}
			if !reflect.DeepEqual(&l.Config, made) {
				t.Errorf("the files contain\n%+v\nwant\n%+v", &l.Config, made)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), " as password_file, "); n != passwords {
				t.Errorf("%d passwords are requested, want %d:\n%s", n, passwords, text)
			}
			if strings.Contains(string(text), "s3cret") || strings.Contains(string(text), "<secret>") {
				t.Errorf("the file shows a secret, or a mask instead of one:\n%s", text)
			}
		})
	}
}

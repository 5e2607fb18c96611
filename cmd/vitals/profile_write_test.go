package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/internal/config"
)

// writeProfile writes a profile with its kuryr.conf, and returns what the profile itself
// loads and what the written files load.
func writeProfile(t *testing.T, profile, conf, dir string, set map[string]string) (made, written *config.Loaded) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, conf)
	p := &program{profile: profile, kuryrConf: path, set: set}
	made, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out, log bytes.Buffer
	p = &program{stdout: &out, stderr: &log, kuryrConf: path, set: set}
	if code := p.showProfile(profile, dir); code != exitOK {
		t.Fatalf("showProfile = %d %s, want 0", code, &log)
	}
	useHostName(t, filepath.Join(dir, "vitals.yml"))
	written, errs = config.LoadFile(filepath.Join(dir, "vitals.yml"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return made, written
}

// useHostName replaces the reference to a file of the host by the name of this host.
func useHostName(t *testing.T, path string) {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, strings.ReplaceAll(string(text), "${file:/etc/hostname}", name))
}

// The files have the configuration of the profile, with its secrets.
func TestProfileIsWrittenWithItsKuryrConf(t *testing.T) {
	for _, tt := range []struct{ profile, conf string }{
		{"kuryr-controller", minimalConf},
		{"kuryr-controller", strings.Replace(minimalConf, "s3cret", "'${file:/x} $$ \" s3cret'", 1) + "[kubernetes]\nvif_pool_driver = neutron\ncontroller_ha = True\napi_root = https://192.0.2.10:6443\n"},
		{"kuryr-controller", "[neutron]\nauth_url = http://192.0.2.20:5000\napplication_credential_id = 1\napplication_credential_secret = s3cret\n"},
		{"kuryr-cni", "[cni_health_server]\nmax_memory_usage = 512\n[neutron_defaults]\novs_bridge = br-int\n"},
	} {
		t.Run(tt.profile, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a folder")
			made, written := writeProfile(t, tt.profile, tt.conf, dir, map[string]string{"components": "watcher"})
			for i, r := range made.Config.RuleFiles {
				made.Config.RuleFiles[i] = "rules/" + strings.TrimPrefix(r, config.BuiltinPrefix) + ".yml"
			}
			if diff := cmp.Diff(&made.Config, &written.Config, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the configuration (-profile +files):\n%s", diff)
			}
			if config.CountRules(made.Rules) != config.CountRules(written.Rules) {
				t.Errorf("the files have %d rules, want %d", config.CountRules(written.Rules), config.CountRules(made.Rules))
			}
			wantPrivate(t, dir)
		})
	}
}

// wantPrivate checks that secrets are in files that only their owner may read.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if has := bytes.Contains(data, []byte("s3cret")); has && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has a secret and the mode %o, want 600", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A rule file beside a profile is part of the configuration: a change of it is loaded.
func TestRulesBesideAProfile(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.yml")
	writeFile(t, own, "groups: [{name: own, rules: [{alert: Own, expr: vitals_dependency_up == 0, labels: {state: ready}}]}]\n")
	p := &program{profile: "kuryr-controller", rules: []string{own}}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if last := l.Rules[len(l.Rules)-1]; len(l.Rules) != 2 || last.Name != own || last.Groups[0].Rules[0].Alert != "Own" {
		t.Errorf("the last rule file is %s, want %s after that of the profile", last.Name, own)
	}
	if l.Sources.Changed() {
		t.Error("the configuration has changed, want it as it was loaded")
	}
	writeFile(t, own, "groups: []\n")
	if !l.Sources.Changed() {
		t.Error("the configuration has not changed, want it to with the rule file")
	}
}

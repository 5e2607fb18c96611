package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles"
)

// What a script gets in its environment is not expanded and never shown.
func TestScriptEnvironmentIsNotShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitals.yml")
	writeFile(t, path, "collectors: [{name: c, script: {command: [/c], environment: {DB: s3cr3t-word, LANG: C}}}]\n")
	l, errs := config.LoadFile(path)
	if len(errs) > 0 {
		t.Fatalf("loadFile() = %v, want no mistakes", errs)
	}
	if got := l.Config.Collectors[0].Script.Environment["DB"].Value(); got != "s3cr3t-word" {
		t.Errorf("the script gets %q, want the value of the file", got)
	}
	if text := string(l.Redacted); strings.Contains(text, "s3cr3t-word") || !strings.Contains(text, "/c") {
		t.Errorf("the configuration is shown as %s, want it without the environment's values", text)
	}
}

// The hook of SONiC gets what docker_image_ctl.j2 of sonic-buildimage gives to containers, without
// the address for logs.
func TestSonicHookInherits(t *testing.T) {
	l, errs := profiles.Load(profiles.Options{Name: "sonic"})
	if len(errs) > 0 {
		t.Fatalf("Load() = %v, want no mistakes", errs)
	}
	for _, c := range l.Config.Collectors {
		if c.Name != "hook" {
			continue
		}
		want := []string{"NAMESPACE_ID", "NAMESPACE_PREFIX", "NAMESPACE_COUNT", "DEV", "CONTAINER_NAME", "PLATFORM", "ASIC_VENDOR", "RUNTIME_OWNER"}
		if !slices.Equal(c.Script.Inherit, want) {
			t.Errorf("the hook inherits %q, want %q", c.Script.Inherit, want)
		}
		return
	}
	t.Error("there is no collector hook")
}

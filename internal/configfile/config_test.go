package configfile

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/kinds"
)

// Kinds decide which of their values are secret; elsewhere the name of the key decides.
func TestSecretKey(t *testing.T) {
	for _, tt := range []struct {
		path, key string
		want      bool
	}{
		{"collectors[0].http.body", "body", true},
		{`collectors[0].http.header_files.X-Auth-Token`, "X-Auth-Token", false},
		{`collectors[0].http.header_files["X.Token"]`, "X.Token", false},
		{"collectors[0].http.headers.X-Auth-Token", "X-Auth-Token", true},
		{"collectors[0].tcp.query_response[1].send", "send", true},
		{"collectors[0].tcp.query_response[1].expect", "expect", false},
		{"collectors[0].tcp.password", "password", true},
		{"collectors[0].components.deadlines.token", "token", false},
		{"collectors[0].script.environment", "environment", true},
		{"collectors[0].keystone.password", "password", true},
		{"collectors[0].nonsense.password", "password", true},
		{"server.component_token", "component_token", true},
		{"server.operator_token", "operator_token", true},
		{"rule_files[0]", "rule_files", false},
	} {
		if got := allKinds().secretKey(tt.path, tt.key); got != tt.want {
			t.Errorf("secretKey(%s, %s) = %t, want %t", tt.path, tt.key, got, tt.want)
		}
	}
}

// A mistake quotes the value without secrets, as a probe may answer with it.
func TestMistakesContainNoSecrets(t *testing.T) {
	for _, value := range []string{
		`http: {url: "http://a", headers: "X-Auth-Token: hunter2"}`,
		`script: {command: "curl -H X-Auth-Token:hunter2"}`,
		`script: {command: "mysql --password hunter2"}`,
		`http: {url: "http://a", headers: ["X-Auth-Token: hunter2"]}`,
	} {
		_, errs := Load(allKinds(), NewSources(), "vitals.yml", []byte("collectors: [{name: a, "+value+"}]\n"), nil)
		if text := errors.Join(errs...).Error(); !strings.Contains(text, "expected a ") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: mistakes = %s, want the mistake without hunter2", value, text)
		}
	}
}

// One token for both would let components silence rules.
func TestEqualTokens(t *testing.T) {
	for text, want := range map[string]string{
		"server:\n  component_token: hunter2\n  operator_token: hunter2\n": "vitals.yml:3:19: server.operator_token: the same token as component_token: expected another one, because a component must not silence rules",
		"server: {component_token: hunter2, operator_token: hunter3}\n":    "",
		"server: {component_token: '', operator_token: ''}\n":              "",
	} {
		_, errs := Load(allKinds(), NewSources(), "vitals.yml", []byte(text), nil)
		if got := errors.Join(errs...); got != nil && got.Error() != want || got == nil && want != "" {
			t.Errorf("%q: mistakes = %v, want %q", text, got, want)
		}
	}
}

// Sources compare the content of files, and the matches of patterns.
func TestSourcesChanged(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yml")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func() *Sources {
		s := NewSources()
		_, _ = s.Read(file)
		matches, err := s.glob(filepath.Join(dir, "*.yml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			_, _ = s.Read(m)
		}
		return s
	}
	for _, tt := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"no change of a missing file", func() {}, false},
		{"a file appears", func() { write(file, "one") }, true},
		{"the same content", func() { write(file, "one") }, false},
		{"other content", func() { write(file, "two") }, true},
		{"a further match", func() { write(filepath.Join(dir, "b.yml"), "") }, true},
		{"a file outside of the pattern", func() { write(filepath.Join(dir, "c.txt"), "") }, false},
		{"a file disappears", func() { _ = os.Remove(file) }, true},
	} {
		s := read()
		tt.change()
		if got := s.Changed(); got != tt.want {
			t.Errorf("%s: Changed() = %t, want %t", tt.name, got, tt.want)
		}
	}
}

// The limit of alive reaches the evaluator, and must be longer than that of ready.
func TestStalledAliveAfter(t *testing.T) {
	for _, tt := range []struct {
		text string
		want time.Duration
		errs int
	}{
		{"{}", 0, 0},
		{"server: {stalled_alive_after: 2m}", 2 * time.Minute, 0},
		{"server: {stalled_alive_after: 5s}", 0, 1},
		{"evaluation_interval: 30s\nserver: {stalled_alive_after: 90s}", 0, 1},
		{"evaluation_interval: 30s\nserver: {stalled_alive_after: 91s}", 91 * time.Second, 0},
		{"evaluation_interval: 30s", 0, 0},
	} {
		l, errs := Load(allKinds(), NewSources(), "vitals.yml", []byte(tt.text), nil)
		if len(errs) != tt.errs {
			t.Errorf("%q: errors = %v, want %d", tt.text, errs, tt.errs)
		}
		if len(errs) > 0 {
			continue
		}
		cfg, _, err := (&Builder[kinds.Config]{Logger: slog.New(slog.DiscardHandler)}).Build(l)
		if err != nil || cfg.StalledAliveAfter != tt.want {
			t.Errorf("%q: StalledAliveAfter = %s, %v, want %s", tt.text, cfg.StalledAliveAfter, err, tt.want)
		}
	}
}

package vitals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals"
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/tcp"
	"github.com/vitals-health/vitals/evaluator"
)

func fine(context.Context) error { return nil }

// Every mistake is reported with its place.
func TestNewReportsMistakes(t *testing.T) {
	kinds := map[string]collectors.Kind{"directory": new(directory), "file": new(file.Config)}
	for _, tt := range []struct {
		name  string
		given vitals.Options
		want  []string
	}{
		{"two configurations", vitals.Options{ConfigFile: "a.yml", Config: []byte("{}")}, []string{"both Options.ConfigFile (a.yml) and Options.Config are set"}},
		{"no such file", vitals.Options{ConfigFile: "none.yml"}, []string{"none.yml: there is no such file"}},
		{"no memory", vitals.Options{MaxMemory: -1}, []string{"Options.MaxMemory -1: expected a number of bytes"}},
		{"more targets than memory", vitals.Options{MaxMemory: 1 << 20, Kinds: map[string]collectors.Kind{"tcp": new(tcp.Config)}, Config: []byte("collectors:\n  - {name: a, tcp: {discovery: {files: [/a.yml], limit: 65}}}\n")},
			[]string{"Options.Config:2:57: collectors[0].tcp.discovery.limit: limit 65: expected at most 64"}},
		{"invalid kinds", vitals.Options{Kinds: map[string]collectors.Kind{"name": new(directory), "Big": new(directory), "nil": nil}},
			[]string{`kind "name" in Options.Kinds: expected a key`, `kind "Big" in Options.Kinds: expected a key`, `kind "nil" in Options.Kinds is <nil>: expected a pointer to a struct`}},
		{"a kind that the program does not name", vitals.Options{Kinds: kinds, Config: []byte("collectors:\n  - {name: a, tcp: {address: 'h:1'}}\n")},
			[]string{`Options.Config:2:15: collectors[0]: unknown key "tcp", expected one of name, interval, timeout, directory, file`}},
		{"mistakes in a kind of the program", vitals.Options{Kinds: kinds, Config: []byte("collectors:\n  - {name: a, directory: {path: '', size: 1}}\n  - {name: b, directory: {path: ''}}\n")},
			[]string{`Options.Config:2:37: collectors[0].directory: unknown key "size", expected one of path`, `Options.Config:3:33: collectors[1].directory.path: path is empty: expected a directory`}},
		{"no kind and two kinds", vitals.Options{Kinds: kinds, Config: []byte("collectors:\n  - {name: a}\n  - {name: b, file: {path: /a}, directory: {}}\n")},
			[]string{`collector "a" has no kind: expected exactly one of directory, file`, `collector "b" has more than one kind (directory, file)`}},
		{"mistakes in Go", vitals.Options{Collectors: []vitals.Collector{vitals.Check("a b", fine), vitals.Check("c", nil), {Name: "d"}, vitals.Check("e", fine), vitals.Check("e", fine)}},
			[]string{`name "a b": expected 1 to 63 letters`, "the function is nil: expected one", `collector "d" has no kind: expected exactly one of Collector.Kind`, `collector "e": the collector in line 1 has this name, expected a unique name`}},
		{"rules", vitals.Options{Rules: []byte("groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]")}, []string{"Options.Rules:1:"}},
		{"the same rule twice", vitals.Options{Rules: []byte(databaseRules + strings.TrimPrefix(strings.ReplaceAll(databaseRules, "name: example", "name: other"), "\ngroups:\n"))}, []string{"DatabaseDown"}},
		{"a template without templates", vitals.Options{Rules: []byte("groups:\n  - name: g\n    rules:\n      - {alert: A, expr: up == 0, annotations: {summary: '{{ $value }}'}}\n")},
			[]string{`Options.Rules:4:58: group "g", rule "A", annotations.summary: template in a program without templates, expected a text without "{{", or Options.Templates in the program (vitals.Templates())`}},
		{"a shipped file with templates", vitals.Options{Config: []byte("rule_files: ['builtin:sonic']")}, []string{"builtin:sonic:", "template in a program without templates"}},
		{"no rule file", vitals.Options{RuleFiles: []string{"none/*.yml"}}, []string{"none/*.yml\" matches no file"}},
	} {
		v, err := vitals.New(tt.given)
		if v != nil || err == nil {
			t.Errorf("%s: New() = %v, %v, want an error", tt.name, v, err)
			continue
		}
		if got := vitals.Validate(tt.given); got == nil || got.Error() != err.Error() {
			t.Errorf("%s: Validate() = %v, want %v as of New()", tt.name, got, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: New() = %v, want %q", tt.name, err, want)
			}
		}
	}
}

// elsewhere is a kind whose collector can be made on another host only.
type elsewhere struct{ directory }

func (*elsewhere) New(collectors.Env) (collectors.Collector, error) {
	return nil, errors.New("no service account on this host")
}

// Validate makes no collector: what New lacks on this host is no mistake. Its errors have no secrets.
func TestValidate(t *testing.T) {
	const secret = "secret-of-the-page"
	given := vitals.Options{
		Kinds:  map[string]collectors.Kind{"elsewhere": new(elsewhere)},
		Config: []byte("collectors: [{name: a, elsewhere: {}}]\nserver: {component_token: " + secret + "}\n"),
	}
	if err := vitals.Validate(given); err != nil {
		t.Errorf("Validate() = %v, want no error", err)
	}
	if _, err := vitals.New(given); err == nil || !strings.Contains(err.Error(), "no service account on this host") {
		t.Errorf("New() = %v, want the error of the kind", err)
	}
	given.Config = append(given.Config, "rule_files: ["+secret+"]\n"...)
	if err := vitals.Validate(given); err == nil || !strings.Contains(err.Error(), "Options.Config:3:") || strings.Contains(err.Error(), secret) {
		t.Errorf("Validate() = %v, want the mistake without the secret", err)
	}
}

// The mistakes of kinds are those of New. What the schema accepts is tested with the schema.
func TestSchema(t *testing.T) {
	if _, err := vitals.Schema(map[string]collectors.Kind{"Big": new(directory)}); err == nil || !strings.Contains(err.Error(), `kind "Big" in Options.Kinds: expected a key`) {
		t.Errorf("Schema() = %v, want an error about the key", err)
	}
	text, err := vitals.Schema(map[string]collectors.Kind{"directory": new(directory)})
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(s.Defs["kinds.Config"].Properties)); !slices.Equal(got, []string{"directory", "interval", "name", "timeout"}) {
		t.Errorf("Schema() has the keys %q, want those of the kind", got)
	}
}

// The zero value of the options is alive and not ready, and nothing runs after the end of Run.
func TestZeroOptions(t *testing.T) {
	defer goleak.VerifyNone(t)
	v, err := vitals.New(vitals.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer run(v)()
	if got := get(v, "/ready"); got != "503 no rules\n" {
		t.Errorf("GET /ready = %q, want 503 no rules", got)
	}
	if got := get(v, "/alive"); !strings.HasPrefix(got, "200 ok") {
		t.Errorf("GET /alive = %q, want 200 ok", got)
	}
	v.Shutdown()
	if got := get(v, "/ready"); !strings.HasPrefix(got, "503 shutting down") {
		t.Errorf("GET /ready after Shutdown() = %q, want 503 shutting down", got)
	}
	if err := v.Report("a", collectors.Report{}); !errors.Is(err, collectors.ErrUnknownComponent) {
		t.Errorf("Report() = %v, want ErrUnknownComponent", err)
	}
}

// Run is for one call. Shutdown and Reload return before it, during it and after it.
func TestOrderOfCalls(t *testing.T) {
	defer goleak.VerifyNone(t)
	made := func() *vitals.Evaluator {
		v, err := vitals.New(vitals.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := func(call string, got error, text string) {
		t.Helper()
		if text == "" && got != nil || text != "" && (got == nil || !strings.Contains(got.Error(), text)) {
			t.Errorf("%s = %v, want an error with %q, or none", call, got, text)
		}
	}
	const stopped, again = "the evaluator has stopped", "Run was called before: make another Evaluator with New"
	v := made()
	want("Reload() before Run()", v.Reload(), "Reload was called before Run")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	until(v, func(s *evaluator.Snapshot) bool {
		started, _ := s.State(evaluator.Started, time.Now())
		return started.Verdict == evaluator.Pass
	})
	want("a second Run()", v.Run(ctx), again)
	want("Reload() during Run()", v.Reload(), "")
	v.Shutdown()
	if got := get(v, "/ready"); !strings.HasPrefix(got, "503 shutting down") {
		t.Errorf("GET /ready after Shutdown() = %q, want 503 shutting down", got)
	}
	cancel()
	want("Run()", <-ended, "")
	want("Reload() after Run()", v.Reload(), stopped)
	v.Shutdown()
	want("Run() after the end", v.Run(t.Context()), again)

	v = made()
	for range 2 {
		v.Shutdown()
	}
	want("Reload() after Shutdown()", v.Reload(), stopped)
	want("Run() after Shutdown()", v.Run(t.Context()), stopped)
	want("a second Run() after Shutdown()", v.Run(t.Context()), again)
	want("Reload() after all", v.Reload(), stopped)
	v.Shutdown()
	if got := get(v, "/ready"); !strings.HasPrefix(got, "503 ") {
		t.Errorf("GET /ready without Run() = %q, want 503", got)
	}
}

// A check exports the outcome with its reason. One that panics or lasts too long fails alone.
func TestCheck(t *testing.T) {
	late := vitals.Check("late", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	late.Timeout = 50 * time.Millisecond
	v, err := vitals.New(vitals.Options{Collectors: []vitals.Collector{
		vitals.Check("fine", fine), late,
		vitals.Check("rejected", func(context.Context) error { return collectors.Errorf(remote.ReasonAuth, "wrong password") }),
		vitals.Check("panics", func(context.Context) error { panic("a fault of the program") }),
		{Name: "marker", Kind: &file.Config{Path: t.TempDir() + "/none"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer run(v)()
	metrics := get(v, "/metrics")
	for _, want := range []string{
		`vitals_dependency_up{dependency="fine"} 1`, `vitals_dependency_latency_seconds{dependency="fine"} `,
		`vitals_dependency_failure{dependency="rejected",reason="auth"} 1`, `vitals_dependency_failure{dependency="late",reason="timeout"} 1`,
		`vitals_collector_success{collector="panics"} 0`, `vitals_collector_success{collector="fine"} 1`, `vitals_file_exists{file="marker"} 0`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics has no %s:\n%s", want, metrics)
		}
	}
	if status := get(v, "/api/v1/status"); !strings.Contains(status, "wrong password") || !strings.Contains(status, "a fault of the program") {
		t.Errorf("/api/v1/status has not both errors: %s", status)
	}
}

// A registry gathers what /metrics has of the snapshot.
func TestCollect(t *testing.T) {
	events := collectors.NewCounter("example_events_total", "Number of events.", "kind")
	v, err := vitals.New(vitals.Options{Rules: []byte(databaseRules), Collectors: []vitals.Collector{
		vitals.Check("database", fine),
		vitals.Measure("events", func(context.Context) ([]collectors.Sample, error) {
			var b collectors.Batch
			b.Set(events, 3, `a "b"`)
			return b.Samples, errors.New("the rest is missing")
		}, events),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer run(v)()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(v)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"# TYPE example_events_total counter\n" + `example_events_total{kind="a \"b\""} 3`, `vitals_dependency_up{dependency="database"} 1`,
		`vitals_rule_status{`, `vitals_collector_success{collector="events"} 0`,
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("Gather() has no %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "go_goroutines") {
		t.Error("Gather() has metrics of the process, want those of the snapshot only")
	}
}

// A reload replaces the configuration, and an invalid one changes nothing.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitals.yml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("states: {serving: {}}\n")
	v, err := vitals.New(vitals.Options{ConfigFile: path})
	if err != nil {
		t.Fatal(err)
	}
	defer run(v)()
	write("states: {serving: {}, draining: {}}\n")
	if err := v.Reload(); err != nil {
		t.Fatalf("Reload() = %v, want no error", err)
	}
	until(v, func(s *evaluator.Snapshot) bool { _, ok := s.State("draining", time.Now()); return ok })
	write("states: 3\n")
	if err := v.Reload(); err == nil || !strings.Contains(err.Error(), path+":1:9: states: expected a mapping") {
		t.Errorf("Reload() = %v, want the mistake with its place", err)
	}
	if _, ok := v.Snapshot().State("draining", time.Now()); !ok {
		t.Error("an invalid configuration has replaced the last one")
	}
}

// A page whose name resolves to the program reads nothing (DNS rebinding), unless the program allows the name.
func TestHostsOfAnEmbeddedServer(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		allowed []string
		host    string
		code    int
	}{
		{nil, "evil.example:8080", http.StatusForbidden},
		{nil, "127.0.0.1:8080", http.StatusOK},
		{nil, machine, http.StatusOK},
		{[]string{"vitals.example.org"}, "vitals.example.org", http.StatusOK},
		{[]string{"vitals.example.org"}, "evil.example", http.StatusForbidden},
		{[]string{"*"}, "evil.example", http.StatusOK},
	} {
		v, err := vitals.New(vitals.Options{AllowedHosts: tt.allowed})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/config", "/api/v1/status", "/"} {
			w := httptest.NewRecorder()
			if v.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://"+tt.host+path, http.NoBody)); w.Code != tt.code {
				t.Errorf("with AllowedHosts %q, GET %s with Host %s = %d, want %d", tt.allowed, path, tt.host, w.Code, tt.code)
			}
		}
	}
	if _, err := vitals.New(vitals.Options{AllowedHosts: []string{"http://a.example"}}); err == nil || !strings.Contains(err.Error(), `Options.AllowedHosts "http://a.example": expected a name`) {
		t.Errorf("New with a URL in AllowedHosts = %v, want the mistake", err)
	}
}

// The request of the documented clients is accepted with the token over TCP, and with no other. The
// token is in no answer.
func TestRequestOfTheClients(t *testing.T) {
	const token = "token-of-components"
	v, err := vitals.New(vitals.Options{
		Config: []byte("server: {component_token: " + token + "}\ncollectors: [{name: parts, components: {expect: [watcher]}}]\n"),
		Kinds:  map[string]collectors.Kind{"components": new(components.Config)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer run(v)()
	s := httptest.NewServer(v.Handler())
	defer s.Close()
	script := read(t, "collectors/components/testdata/client.sh")
	health := regexp.MustCompile(`health='(.*)'`).FindAllStringSubmatch(script, -1)
	if len(health) != 3 || !strings.Contains(script, `-d "{$health,\"reason\":\"$reason\"}"`) {
		t.Fatalf("client.sh has %d reports, want 3 in the known form", len(health))
	}
	for _, h := range health {
		body := "{" + h[1] + `,"reason":"a \"b\" \\ c"}`
		for sent, want := range map[string]int{token: http.StatusNoContent, "other": http.StatusUnauthorized} {
			if got := put(t, s.URL+"/api/v1/components/watcher", sent, body); got != want {
				t.Errorf("PUT %s with the token %s = %d, want %d", body, sent, got, want)
			}
		}
	}
	if got := put(t, s.URL+"/api/v1/components/stranger", token, "{}"); got != http.StatusNotFound {
		t.Errorf("PUT of a stranger = %d, want 404", got)
	}
	until(v, func(*evaluator.Snapshot) bool { return strings.Contains(get(v, "/api/v1/status"), `a \"b\" \\ c`) })
	for _, path := range []string{"/config", "/metrics", "/api/v1/status", "/"} {
		if got := get(v, path); strings.Contains(got, token) || !strings.HasPrefix(got, "200 ") {
			t.Errorf("GET %s = %s, want it without the token", path, got)
		}
	}
}

// put sends a report and returns the status.
func put(t *testing.T, url, token, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(fmt.Errorf("PUT %s: %w", url, err))
	}
	return resp.StatusCode
}

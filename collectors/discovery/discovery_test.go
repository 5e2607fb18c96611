package discovery_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/dns"
	"github.com/vitals-health/vitals/collectors/grpc"
	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/collectors/tcp"
)

// interval is short: the tests wait for checks over real sockets.
const interval = 200 * time.Millisecond

// start runs the collector of a configuration block. WORK is a directory of the test.
func start(t *testing.T, text string, kind collectors.Kind) (c collectors.Collector, dir string) {
	t.Helper()
	dir = t.TempDir()
	collectortest.Decode(t, strings.ReplaceAll(text, "WORK", dir), kind)
	if problems := kind.Problems(); problems != nil {
		t.Fatalf("Problems() = %v, want none", problems)
	}
	c, err := kind.New(collectors.Env{Name: "web", Interval: interval, Timeout: interval})
	if err != nil {
		t.Fatal(err)
	}
	stop, _ := collectortest.Run(t, c)
	t.Cleanup(stop)
	return c, dir
}

// await collects until the exposition and the error contain all texts, and none that begins with "!".
func await(t *testing.T, c collectors.Collector, texts ...string) (samples []collectors.Sample) {
	t.Helper()
	last := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the last samples:\n%s", last)
		}
	})
	collectortest.Wait(t, strings.Join(texts, " and "), func() bool {
		var err error
		samples, err = collectortest.Collect(t, c)
		last = collectortest.Exposition(samples, nil)
		if err != nil {
			last += "# " + err.Error() + "\n"
		}
		for _, text := range texts {
			if without, not := strings.CutPrefix(text, "!"); strings.Contains(last, without) == not {
				return false
			}
		}
		return true
	})
	return samples
}

// servers are two HTTP servers, of which the second one fails.
func servers(t *testing.T) (well, failing *httptest.Server) {
	return collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }),
		collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
}

func TestExposition(t *testing.T) {
	well, failing := servers(t)
	c, dir := start(t, "{targets: [{name: well, address: '"+well.URL+"'}], discovery: {files: ['WORK/*.yml']}}", &httpkind.Config{})
	collectortest.Write(t, filepath.Join(dir, "t.yml"), "- targets: ['"+failing.URL+"']\n  labels: {name: failing}\n")
	samples := await(t, c, `vitals_http_status_code{dependency="failing"} 418`, `vitals_dependency_up{dependency="well"} 1`)
	for i, s := range samples {
		if name := s.Labels.Get(model.MetricNameLabel); strings.HasSuffix(name, "_seconds") {
			samples[i].Value = 0.001
		}
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
	if got, want := collectortest.Note(c), "2 targets, 1 failed"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
	_, notes := c.(collectors.PartNoter).PartNotes()
	if !strings.HasPrefix(notes["failing"], "418 ") || !strings.HasSuffix(notes["failing"], ": client_error") {
		t.Errorf("the note on the failing target = %q, want its answer and reason", notes["failing"])
	}
}

// Files are followed: targets join and leave, and a broken file keeps its last targets.
func TestFilesAreFollowed(t *testing.T) {
	well, _ := servers(t)
	c, dir := start(t, "{discovery: {files: ['WORK/*.yml', WORK/fixed.json], limit: 3}}", &httpkind.Config{})
	a, b, fixed := filepath.Join(dir, "a.yml"), filepath.Join(dir, "b.yml"), filepath.Join(dir, "fixed.json")
	await(t, c, `vitals_discovery_up{collector="web"} 0`, "fixed.json: no such file", `targets{collector="web"} 0`)

	collectortest.Write(t, fixed, `[{"targets": ["`+well.URL+`/1"], "labels": {"name": "one", "team": "x"}}]`)
	collectortest.Write(t, a, "- targets: ['"+well.URL+"/2', '"+well.URL+"/3']\n  labels: {name: app}\n")
	port := well.URL[strings.LastIndex(well.URL, ":")+1:]
	await(t, c, `vitals_discovery_up{collector="web"} 1`, `_up{dependency="one"} 1`, `_up{dependency="app-127.0.0.1-`+port+`-2"} 1`, `-3"} 1`, "!team")

	collectortest.Write(t, a, "- targets: [")
	collectortest.Write(t, b, "- targets: ['"+well.URL+"/4']\n")
	await(t, c, `vitals_discovery_up{collector="web"} 0`, "a.yml:2:", `-3"} 1`, `vitals_discovery_dropped_targets{collector="web"} 1`, "the limit is 3")

	collectortest.Write(t, a, "- targets: ['"+well.URL+"/2', '']\n")
	await(t, c, `vitals_discovery_up{collector="web"} 0`, "a.yml:1:", "[0].targets[1]: no address: expected one, such as 10.0.0.5:5432", `-3"} 1`)

	collectortest.Write(t, a, "[]")
	await(t, c, `vitals_discovery_up{collector="web"} 1`, `_up{dependency="web-127.0.0.1-`+port+`-4"} 1`, `!-3"}`, `targets{collector="web"} 2`)
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	await(t, c, `!-4"}`, `targets{collector="web"} 1`)
	collectortest.Write(t, fixed, " \n")
	await(t, c, `vitals_discovery_up{collector="web"} 0`, "fixed.json: the file is empty", `_up{dependency="one"} 1`)
}

// Every kind that has several targets checks each, and reports External and its labels accordingly.
func TestKinds(t *testing.T) {
	const where = "{targets: [{name: here, address: '127.0.0.1:1'}, '127.0.0.1:2']}"
	const urls = "{targets: [{name: here, address: 'http://127.0.0.1:1/'}, 'http://127.0.0.1:2/']}"
	for _, tt := range []struct {
		name, text, up string
		kind, outside  collectors.Kind
	}{
		{"http", urls, `vitals_dependency_up{dependency="%s"} 0`, &httpkind.Config{}, &httpkind.Config{}},
		{"tcp", where, `vitals_dependency_up{dependency="%s"} 0`, &tcp.Config{}, &tcp.Config{}},
		{"grpc", where, `vitals_dependency_up{dependency="%s"} 0`, &grpc.Config{}, &grpc.Config{}},
		{"dns", strings.Replace(where, "{", "{name: a.example, recursion: false, ", 1), `vitals_dependency_up{dependency="%s"} 0`, &dns.Config{}, &dns.Config{}},
		{"scrape", urls, `vitals_scrape_up{component="%s"} 0`, &scrape.Config{}, &scrape.Config{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := start(t, tt.text, tt.kind)
			await(t, c, strings.ReplaceAll(tt.up, "%s", "here"), strings.ReplaceAll(tt.up, "%s", "web-127.0.0.1-2"), "2 of 2 targets failed: here: ")
			if tt.kind.External() {
				t.Error("External() = true, want false: both targets are here")
			}
			collectortest.Decode(t, strings.Replace(tt.text, "127.0.0.1:2", "192.0.2.1:2", 1), tt.outside)
			if !tt.outside.External() {
				t.Error("External() = false, want true: one target is elsewhere")
			}
			names, ok := tt.kind.(collectors.Several).TargetNames("web")
			want := []collectors.TargetName{{Path: "targets[0].name", Name: "here"}, {Path: "targets[1]", Name: "web-127.0.0.1-2"}}
			if diff := cmp.Diff(want, names); !ok || diff != "" {
				t.Errorf("TargetNames() = %t (-want +got):\n%s", ok, diff)
			}
		})
	}
}

// Forwarded series have the name of their target.
func TestForwardedSeries(t *testing.T) {
	app := collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("app_up 1\n")) })
	kind := &scrape.Config{}
	c, _ := start(t, "{targets: [{name: one, address: '"+app.URL+"'}, {name: two, address: '"+app.URL+"/2'}]}", kind)
	await(t, c, `app_up{component="one"} 1`, `app_up{component="two"} 1`)
	if diff := cmp.Diff(map[string][]string{"component": {"one", "two"}}, kind.PassedOn("web")); diff != "" {
		t.Errorf("PassedOn() (-want +got):\n%s", diff)
	}
	found := &scrape.Config{}
	collectortest.Decode(t, "{discovery: {files: [/t/*.yml]}}", found)
	if got := found.PassedOn("web"); got["component"] != nil || !found.External() {
		t.Errorf("PassedOn() = %v, External() = %t, want any name, and external", got, found.External())
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"{targets: []}":   ": expected targets or discovery",
		"{targets: [{}]}": "targets[0]: no address: expected one, in the form of url",
		"{concurrency: 2, url: 'http://a/'}": ": expected targets or discovery\n" +
			"url: url beside several targets: expected one of them",
		"{targets: [a, 'http://b/', {name: -x, address: 'http://c/'}], method: get}": "method: method \"get\": expected a method such as GET, HEAD or POST\n" +
			"targets[0]: expected a URL such as http://127.0.0.1:5000/v3/\n" +
			"targets[2].name: name \"-x\": expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends",
		"{discovery: {}}": "discovery: expected files, such as /etc/vitals/targets/*.yml, or kubernetes",
		"{discovery: {files: [a.yml, '/t/[.yml', /t/a.txt], limit: -1}, concurrency: -1, status: []}": "concurrency: concurrency -1: expected at least 1\n" +
			"discovery.files[0]: path \"a.yml\": expected an absolute path\n" +
			"discovery.files[1]: pattern \"/t/[.yml\": syntax error in pattern\n" +
			"discovery.files[2]: path \"/t/a.txt\": expected a file that ends in .yml, .yaml or .json\n" +
			"discovery.limit: limit -1: expected at least 1\n" +
			"status: no status: expected at least one, such as 200-299",
	} {
		if diff := cmp.Diff(want, collectortest.Problems(t, text, &httpkind.Config{})); diff != "" {
			t.Errorf("Problems of %s (-want +got):\n%s", text, diff)
		}
	}
}

package collectors_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
)

// shown are the files that the pages of the kinds show: their programs and rules.
func shown(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"testdata/*/*.py", "testdata/*/rules.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || found == nil {
			t.Fatalf("Glob(%q) = %v, %v, want files", pattern, found, err)
		}
		files = append(files, found...)
	}
	return files
}

// What the documentation shows is what is tested.
func TestDocumentationShowsTheFilesThatAreTested(t *testing.T) {
	language := map[string]string{".py": "python", ".yml": "yaml"}
	for _, file := range shown(t) {
		page := "../docs/collectors/" + filepath.Base(filepath.Dir(file)) + ".md"
		if !strings.Contains(localRead(t, page), "```"+language[filepath.Ext(file)]+"\n"+localRead(t, file)+"```\n") {
			t.Errorf("%s does not show %s as it is", page, file)
		}
	}
}

func TestExampleRulesParse(t *testing.T) {
	for _, file := range shown(t) {
		if filepath.Ext(file) != ".yml" {
			continue
		}
		if _, errs := rulefmt.Parse([]byte(localRead(t, file)), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler)); errs != nil {
			t.Errorf("Parse(%s) = %v, want no errors", file, errs)
		}
	}
}

// The datagrams of the Python program have the effect that it shows.
func TestDocumentedDatagrams(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, socket, stop := localNotify(t, "")
	defer stop()
	conn := localDial(t, socket)
	want := []string{"alive true, ready ?: loading pools", "alive true, ready true: synced 42 pods", "alive true, ready true: synced 42 pods"}
	calls := regexp.MustCompile(`(?m)^notify\((".*")\)$`).FindAllStringSubmatch(localRead(t, "testdata/components/notify.py"), -1)
	if len(calls) != len(want) {
		t.Fatalf("%d datagrams in notify.py, want %d", len(calls), len(want))
	}
	for i, call := range calls {
		datagram, err := strconv.Unquote(call[1])
		if err != nil {
			t.Fatal(err)
		}
		localSend(t, conn, datagram)
		localWait(t, datagram, func() bool {
			return localCounter(t, c, "vitals_component_reports_total") == float64(i+1)
		})
		if got := localStatus(c, "watcher"); got != want[i] {
			t.Errorf("after %q: %s, want %s", datagram, got, want[i])
		}
	}
}

// The body that the documentation sends with curl is a report.
func TestDocumentedBody(t *testing.T) {
	body := regexp.MustCompile(`curl .* -d '(\{.*\})' `).FindStringSubmatch(localRead(t, "../docs/collectors/components.md"))
	if body == nil {
		t.Fatal("no curl command in docs/collectors/components.md, want one")
	}
	var r collectors.Report
	decoder := json.NewDecoder(strings.NewReader(body[1]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("Decode(%s) = %v, want no error", body[1], err)
	}
	c := localComponents(t, "expect: [watcher]")
	localReport(t, c, "watcher", r)
	if got, want := localStatus(c, "watcher"), "alive true, ready true: "; got != want {
		t.Errorf("Status() = %s, want %s", got, want)
	}
}

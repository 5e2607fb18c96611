package components_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// The datagrams of the Python program have the effect that it shows.
func TestDocumentedDatagrams(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, socket, stop := listenNotify(t, "")
	defer stop()
	conn := dialNotify(t, socket)
	want := []string{"alive true, ready ?: loading pools", "alive true, ready true: synced 42 pods", "alive true, ready true: synced 42 pods"}
	calls := regexp.MustCompile(`(?m)^notify\((".*")\)$`).FindAllStringSubmatch(collectortest.Read(t, "testdata/notify.py"), -1)
	if len(calls) != len(want) {
		t.Fatalf("%d datagrams in notify.py, want %d", len(calls), len(want))
	}
	for i, call := range calls {
		datagram, err := strconv.Unquote(call[1])
		if err != nil {
			t.Fatal(err)
		}
		sendNotify(t, conn, datagram)
		collectortest.Wait(t, datagram, func() bool {
			return counterValue(t, c, "vitals_component_reports_total") == float64(i+1)
		})
		if got := statusText(c, "watcher"); got != want[i] {
			t.Errorf("after %q: %s, want %s", datagram, got, want[i])
		}
	}
}

// The body that the documentation sends with curl is a report.
func TestDocumentedBody(t *testing.T) {
	body := regexp.MustCompile(`curl .* -d '(\{.*\})' `).FindStringSubmatch(collectortest.Read(t, "README.md"))
	if body == nil {
		t.Fatal("no curl command in collectors/components/README.md, want one")
	}
	var r collectors.Report
	decoder := json.NewDecoder(strings.NewReader(body[1]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("Decode(%s) = %v, want no error", body[1], err)
	}
	c := newCollector(t, "expect: [watcher]")
	mustReport(t, c, "watcher", r)
	if got, want := statusText(c, "watcher"), "alive true, ready true: "; got != want {
		t.Errorf("Status() = %s, want %s", got, want)
	}
}

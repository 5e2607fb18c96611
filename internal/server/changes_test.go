package server_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server"
)

// later returns a copy of a snapshot as the next evaluation has it.
func later(s *evaluator.Snapshot) *evaluator.Snapshot {
	next := *s
	next.Generation++
	next.Rules, next.Collectors = slices.Clone(s.Rules), slices.Clone(s.Collectors)
	return &next
}

// changesOf requests what changed.
func changesOf(t *testing.T, p *publisher, h func(target string) string, wait uint64) server.Changes {
	t.Helper()
	started := p.options().Snapshot().Started.UTC().Format(time.RFC3339Nano)
	var got server.Changes
	if err := json.Unmarshal([]byte(h(fmt.Sprintf("/api/v1/status?changes=%s&wait=%d", started, wait))), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestStatusHasOnlyWhatChanged(t *testing.T) {
	p := newPublisher(healthy())
	handler := server.New(p.options()).Handler()
	get := func(target string) string { return text(t, request(t, handler, "GET", target, "")) }
	check := func(name string, got server.Changes, complete bool, generation uint64, rules, collectors []int) {
		t.Helper()
		if got.Complete != complete || got.Generation != generation || !slices.Equal(got.RulesAt, rules) || !slices.Equal(got.CollectorsAt, collectors) || len(got.Rules) != len(rules) || len(got.Collectors) != len(collectors) {
			t.Errorf("%s: complete %t, generation %d, rules %v, collectors %v; want %t, %d, %v, %v", name, got.Complete, got.Generation, got.RulesAt, got.CollectorsAt, complete, generation, rules, collectors)
		}
	}
	allRules, allCollectors := []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1, 2, 3}

	var first server.Changes
	if err := json.Unmarshal([]byte(get("/api/v1/status?changes=")), &first); err != nil {
		t.Fatal(err)
	}
	check("the first request", first, true, 7, allRules, allCollectors)

	next := later(healthy())
	next.Rules[2].Status = evaluator.Failing
	next.Collectors[1].Duration = time.Second
	p.publish(next)
	check("a rule and a collector changed", changesOf(t, p, get, 7), false, 8, []int{2}, []int{1})
	check("a second page of the same generation", changesOf(t, p, get, 7), false, 8, []int{2}, []int{1})

	back := later(next)
	back.Rules[2].Status = evaluator.OK
	p.publish(back)
	check("the rule is as before", changesOf(t, p, get, 8), false, 9, []int{2}, []int{})
	check("of a page that was two generations behind", changesOf(t, p, get, 7), false, 9, []int{2}, []int{1})

	p.publish(later(back)) // of which no page has a status
	p.publish(later(later(back)))
	check("a generation that no page was sent", changesOf(t, p, get, 10), true, 11, allRules, allCollectors)

	fewer := later(later(later(back)))
	fewer.Rules = fewer.Rules[:5]
	p.publish(fewer)
	check("a reload removed rules", changesOf(t, p, get, 11), true, 12, allRules[:5], allCollectors)

	restarted := later(fewer)
	restarted.Started = restarted.Started.Add(time.Minute)
	p.publish(restarted)
	check("another process", changesOf(t, p, get, 12), true, 13, allRules[:5], allCollectors)
}

// unpacked decompresses a body.
func unpacked(t *testing.T, packed string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestResponsesAreCompressed(t *testing.T) {
	h := server.New(fixed(healthy())).Handler()
	for _, target := range []string{"/api/v1/status", "/api/v1/status?changes=", "/plain", "/assets/page.js", "/"} {
		plain := text(t, request(t, h, "GET", target, ""))
		r := request(t, h, "GET", target, "", "Accept-Encoding", "gzip")
		if r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("GET %s: Content-Encoding %q, Vary %q, want gzip and Accept-Encoding", target, r.Header.Get("Content-Encoding"), r.Header.Get("Vary"))
		}
		if packed := text(t, r); unpacked(t, packed) != plain || len(packed)*2 > len(plain)+1000 {
			t.Errorf("GET %s: %d bytes compressed, of %d, want the same text in less", target, len(packed), len(plain))
		}
	}
	o := fixed(failing())
	o.Explain = func(_ context.Context, state string, _ explain.Options, _ time.Time) (*explain.Explanation, error) {
		return &explain.Explanation{State: state, Generation: o.Snapshot().Generation, Reason: strings.Repeat("x", 2000)}, nil
	}
	h = server.New(o).Handler()
	for what := range 2 { // rendered, and kept
		if r := request(t, h, "GET", "/api/v1/explain/ready", "", "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("GET of explanation %d: Content-Encoding %q, want gzip", what, r.Header.Get("Content-Encoding"))
		}
	}
	crowd := failing()
	for range 20 {
		crowd.Overrides = append(crowd.Overrides, evaluator.Override{Rule: "KeystoneDown", Reason: strings.Repeat("x", 50)}, evaluator.Override{State: "ready", Reason: strings.Repeat("x", 100)})
		crowd.Groups = append(crowd.Groups, evaluator.Group{Name: "g", Rules: []evaluator.GroupRule{{Definition: &evaluator.Definition{Name: "up:sum", Query: "sum(up)"}, Alert: -1}}})
		crowd.Rules = append(crowd.Rules, crowd.Rules[2])
	}
	h = server.New(fixed(crowd)).Handler()
	for _, target := range []string{"/api/v1/rules", "/api/v1/alerts", "/api/v1/silences", "/api/v1/maintenance"} {
		if r := request(t, h, "GET", target, "", "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("GET %s: Content-Encoding %q, Vary %q, want gzip and Accept-Encoding", target, r.Header.Get("Content-Encoding"), r.Header.Get("Vary"))
		}
	}
	if r := request(t, h, "GET", "/assets/icon.svg", "", "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "" {
		t.Error("an icon of some bytes is compressed")
	}
}

// BenchmarkStatusOfManyRules compares what a page with 5,000 rules gets each second: the whole
// status, and what changed.
func BenchmarkStatusOfManyRules(b *testing.B) {
	s := healthy()
	for i := range 5000 {
		r := s.Rules[i%5]
		r.Name = fmt.Sprintf("%s%d", r.Name, i)
		s.Rules = append(s.Rules, r)
	}
	for _, query := range []string{"", "?changes="} {
		b.Run("status"+query, func(b *testing.B) {
			current := s
			o := live(s)
			o.Snapshot = func() *evaluator.Snapshot { return current }
			h := server.New(o).Handler()
			started := s.Started.UTC().Format(time.RFC3339Nano)
			var size int
			for b.Loop() {
				target := "/api/v1/status"
				if query != "" {
					target += fmt.Sprintf("?changes=%s&wait=%d", started, current.Generation)
				}
				current = later(current)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+target, nil))
				size = w.Body.Len()
			}
			b.ReportMetric(float64(size), "bytes/response")
		})
	}
}

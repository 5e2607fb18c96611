package server

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

// servedPaths are all paths of a server, patterns in capitals.
func servedPaths() []string {
	states := []evaluator.State{{Name: evaluator.Ready}, {Name: evaluator.Alive}, {Name: evaluator.Started}}
	snap := &evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, States: states}
	s := New(Options{
		Snapshot:      func() *evaluator.Snapshot { return snap },
		History:       history.New(time.Now()),
		ExternalExtra: map[string]http.Handler{pathFaults: http.NotFoundHandler()},
	})
	served := []string{"/STATE", "/STATE/RULE", pathComponents + "NAME", pathVerdict + "STATE", pathExplain + "STATE", pathBadge + "STATE.svg"}
	served = append(served, overridePatterns()...)
	for path := range s.current().probes {
		served = append(served, "/"+path)
	}
	for path := range s.routes {
		if strings.HasPrefix(path, "/assets/") {
			path = "/assets/..."
		}
		served = append(served, path)
	}
	slices.Sort(served)
	return slices.Compact(served)
}

// docs/reference/endpoints.md lists every path that is served, and no other.
func TestEndpointsPageListsThePaths(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n| path |")
	if !found {
		t.Fatal("docs/reference/endpoints.md has no table of paths")
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	var listed []string
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`(/[^`]*)`").FindAllStringSubmatch(first, -1) {
			listed = append(listed, m[1])
		}
	}
	slices.Sort(listed)
	if served := servedPaths(); !slices.Equal(listed, served) {
		t.Errorf("docs/reference/endpoints.md lists the paths\n%v, want\n%v", listed, served)
	}
}

// A 404 names every path that is served, except the files of the page.
func TestNotFoundNamesThePaths(t *testing.T) {
	s := New(Options{History: history.New(time.Now()), ExternalExtra: map[string]http.Handler{pathFaults: http.NotFoundHandler()}})
	named := s.fixedPaths()
	for path := range s.routes {
		if !strings.HasPrefix(path, "/assets/") && !slices.Contains(named, path) {
			t.Errorf("fixedPaths() = %v, want %s among them", named, path)
		}
	}
}

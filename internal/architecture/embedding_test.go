package architecture_test

import (
	"slices"
	"strings"
	"testing"
)

// A program that embeds Vitals contains the engine of PromQL and no kind that it does not name. The
// engine itself imports parts of client-go, which do not count.
func TestEmbeddingContainsNoOtherKind(t *testing.T) {
	engine := dependencies(t, "github.com/prometheus/prometheus/promql")
	deps := dependencies(t, "./testdata/embedding")
	if !slices.Contains(deps, module+"/evaluator") {
		t.Fatalf("go list -deps names %d packages without the evaluator, want all", len(deps))
	}
	for _, path := range deps {
		if own, ok := strings.CutPrefix(path, module+"/collectors/"); ok && own != "remote" {
			t.Errorf("a program that names no kind contains %s", path)
		}
		for _, client := range []string{"k8s.io/", "github.com/gophercloud/", "github.com/jackc/", "google.golang.org/grpc", "github.com/go-sql-driver/", "github.com/godbus/", "github.com/coreos/", "github.com/prometheus/exporter-toolkit", "github.com/alecthomas/kingpin"} {
			if strings.HasPrefix(path, client) && !slices.Contains(engine, path) {
				t.Errorf("a program that names no kind contains %s, want it in its kind only", path)
			}
		}
	}
}

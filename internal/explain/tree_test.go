package explain

import (
	"context"
	goflag "flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

var update = goflag.Bool("update", false, "write the golden files instead of comparing with them")

// sketch writes a tree in short: for each node its kind, expression and value, and
// its elements with the age of their samples at epoch+60s.
func sketch(n *Node) string {
	var b strings.Builder
	sketchInto(&b, n, "")
	return b.String()
}

func sketchInto(b *strings.Builder, n *Node, indent string) {
	fmt.Fprintf(b, "%s%s %s", indent, n.Kind, n.Expr)
	if !n.At.IsZero() {
		fmt.Fprintf(b, " at %s", n.At.Sub(epoch()))
	}
	if n.Value != nil {
		fmt.Fprintf(b, " = %s", *n.Value)
	}
	if n.Type == "vector" || n.Type == "matrix" {
		fmt.Fprintf(b, " = %d series", n.Count)
	}
	if c := n.Comparison; c != nil {
		fmt.Fprintf(b, " (%s", c.Op)
		if c.Threshold != nil {
			fmt.Fprintf(b, " %s", *c.Threshold)
		}
		fmt.Fprintf(b, ": %d of %d)", c.True, c.Of)
	}
	if n.Deciding > 0 {
		fmt.Fprintf(b, " deciding: %d", n.Deciding)
	}
	if n.Own {
		b.WriteString(" own")
	}
	if len(n.Collectors) > 0 {
		fmt.Fprintf(b, " from %s", strings.Join(n.Collectors, ","))
	}
	if n.Error != "" {
		fmt.Fprintf(b, " error: %s", n.Error)
	}
	if n.Cut {
		b.WriteString(" cut")
	}
	b.WriteString("\n")
	for _, s := range n.Series {
		fmt.Fprintf(b, "%s  - %s", indent, sketchLabels(s.Labels))
		if s.Value != nil {
			fmt.Fprintf(b, " %s", *s.Value)
		}
		if s.Holds != nil {
			fmt.Fprintf(b, " %t", *s.Holds)
		}
		if !s.SampleAt.IsZero() {
			fmt.Fprintf(b, " of %s", s.SampleAt.Sub(epoch()))
		}
		if s.Samples > 0 {
			fmt.Fprintf(b, " %d samples: %s at %s to %s at %s", s.Samples, s.First.Value, s.First.At.Sub(epoch()), s.Last.Value, s.Last.At.Sub(epoch()))
		}
		if s.Collector != "" {
			fmt.Fprintf(b, " from %s", s.Collector)
		}
		b.WriteString("\n")
	}
	for _, r := range n.Recordings {
		fmt.Fprintf(b, "%s  recorded %s by %s: %s", indent, r.Name, r.Group, r.Expr)
		if r.Error != "" {
			fmt.Fprintf(b, " error: %s", r.Error)
		}
		b.WriteString("\n")
		if r.Tree != nil {
			sketchInto(b, r.Tree, indent+"    ")
		}
	}
	for _, child := range n.Children {
		sketchInto(b, child, indent+"  ")
	}
}

func sketchLabels(ls map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(ls)) {
		if name != model.MetricNameLabel {
			pairs = append(pairs, name+"="+ls[name])
		}
	}
	return ls[model.MetricNameLabel] + "{" + strings.Join(pairs, ",") + "}"
}

// scene is a simulation with two collectors: web exports, every ten seconds, up{i} as 0,
// 1 and 1, and load, which grows; late exports limit{i} once and nothing more.
type scene struct {
	*evaluator.Simulation
	snap *evaluator.Snapshot
}

// fakeCollector is a collector that is never run.
type fakeCollector struct {
	collectors.Collector
	name string
}

func epoch() time.Time { return time.Unix(1_700_000_000, 0) }

func sample(v float64, name string, pairs ...string) collectors.Sample {
	return collectors.Sample{Labels: labels.FromStrings(append(pairs, model.MetricNameLabel, name)...), Value: v}
}

func upSamples(values ...float64) []collectors.Sample {
	var all []collectors.Sample
	for i, v := range values {
		all = append(all, sample(v, "up", "i", string(rune('a'+i))))
	}
	return all
}

// newScene simulates a minute, with an evaluation a second.
func newScene(t *testing.T, ruleFile string) *scene {
	t.Helper()
	file, errs := rules.Parse("test.yml", []byte(ruleFile), []string{evaluator.Ready, evaluator.Alive, evaluator.Started, "gold", "silver"})
	if len(errs) > 0 {
		t.Fatalf("rules.Parse() = %v, want no error", errs)
	}
	sim, err := evaluator.NewSimulation(evaluator.Config{
		Files:  []*rules.File{file},
		States: []evaluator.StatePolicy{{Name: evaluator.Ready, AtStart: evaluator.AtStartPass}, {Name: "gold", AtStart: evaluator.AtStartPass}, {Name: "silver"}},
		Sources: []evaluator.Source{
			{Name: "web", Kind: "scrape", Interval: 10 * time.Second, Timeout: time.Second, Collector: &fakeCollector{name: "web"}},
			{Name: "late", Kind: "http", External: true, Interval: 10 * time.Second, Timeout: time.Second, Collector: &fakeCollector{name: "late"}},
		},
	}, evaluator.SimulationOptions{}, epoch())
	if err != nil {
		t.Fatal(err)
	}
	sc := &scene{Simulation: sim}
	for s := range 61 {
		if s%10 == 7 {
			sc.deliver(t, "web", s, append(upSamples(0, 1, 1), sample(float64(s), "load", "host", "h"))...)
		}
		if s == 5 {
			sc.deliver(t, "late", s, sample(3, "limit", "i", "a"))
		}
		sc.snap = sc.Evaluate(context.Background(), epoch().Add(time.Duration(s)*time.Second))
	}
	return sc
}

// deliver ends a collection s seconds after epoch.
func (sc *scene) deliver(t *testing.T, name string, s int, samples ...collectors.Sample) {
	t.Helper()
	b := evaluator.Batch{Samples: samples}
	if name == "web" {
		b.Descs = []collectors.Desc{{Name: "up"}, {Name: "load"}, {Name: "wait"}}
	}
	if err := sc.Deliver(name, b, nil, epoch().Add(time.Duration(s)*time.Second)); err != nil {
		t.Fatal(err)
	}
}

// view runs use with the view after the last evaluation.
func (sc *scene) view(t *testing.T, use func(context.Context, *evaluator.View)) {
	t.Helper()
	if err := sc.View(context.Background(), use); err != nil {
		t.Fatal(err)
	}
}

// explain returns what Explainer.Explain does, without its cache.
func (sc *scene) explain(t *testing.T, state string, o Options) *Explanation {
	t.Helper()
	x, _ := sc.explained(t, state, o)
	return x
}

// explained returns an explanation and the rules that were explained for it.
func (sc *scene) explained(t *testing.T, state string, o Options) (x *Explanation, known *explained) {
	t.Helper()
	sc.view(t, func(ctx context.Context, v *evaluator.View) {
		known = known.forSnapshot(sc.snap)
		var err error
		if x, err = explainView(ctx, v, known, state, o, sc.snap.At); err != nil {
			t.Fatal(err)
		}
	})
	return x, known
}

// tree is the tree of a rule R with this expression.
func tree(t *testing.T, expr string) *Node {
	t.Helper()
	sc := newScene(t, fmt.Sprintf("groups: [{name: g, rules: [{alert: R, expr: %q}]}]", expr))
	return sc.explain(t, evaluator.Ready, Options{Rule: "R"}).Rules[0].Tree
}

// testdata/trees has a name, an expression and, indented, its tree for each case.
func TestTreeOfEachKindOfNode(t *testing.T) {
	const path = "testdata/trees"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	var updated []string
	for _, section := range strings.Split(strings.TrimRight(string(data), "\n"), "\n\n") {
		head, want, _ := strings.Cut(section+"\n", "\n  ")
		name, expr, ok := strings.Cut(strings.TrimSuffix(head, "\n"), "\n")
		if !ok || !strings.HasPrefix(name, "# ") {
			t.Fatalf("%s: section %q, want a name, an expression and a tree", path, section)
		}
		got := tree(t, expr)
		note(kinds, got)
		text := "  " + strings.ReplaceAll(strings.TrimRight(sketch(got), "\n"), "\n", "\n  ") + "\n"
		if want = "  " + want; !*update && text != want {
			t.Errorf("%s: the tree of %s (-want +got):\n%s", name, expr, cmp.Diff(want, text))
		}
		updated = append(updated, name+"\n"+expr+"\n"+text)
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(updated, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{KindAggregation, KindArithmetic, KindComparison, KindFunction, KindNumber, KindRange, KindSelector, KindSet, KindString, KindSubquery}
	if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
		t.Errorf("the trees have nodes of the kinds %v, want %v", got, want)
	}
}

// note notes the kinds of all nodes of a tree.
func note(kinds map[string]bool, n *Node) {
	kinds[n.Kind] = true
	for _, child := range n.Children {
		note(kinds, child)
	}
}

// What a part is without its own parts.
func TestShortNamesOfNodes(t *testing.T) {
	n := tree(t, `-sum by (i) (max_over_time((up and on (i) up)[20s:10s] @ end())) > on () group_left () load * 2`)
	var got []string
	var walk func(n *Node)
	walk = func(n *Node) {
		got = append(got, n.Short)
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(n)
	want := []string{
		"> on () group_left ()", "-", "sum by (i)", "max_over_time", "[20s:10s] @ end()", "and on (i)", "", "", "*", "", "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the short names (-want +got):\n%s", diff)
	}
}

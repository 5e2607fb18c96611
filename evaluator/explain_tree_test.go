package evaluator

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
	"github.com/vitals-health/vitals/rules"
)

var update = goflag.Bool("update", false, "write the golden files instead of comparing with them")

// sketch writes a tree in short: for each node its kind and expression, what it says,
// and its elements with the age of their samples at epoch+60s.
func sketch(n *Node) string {
	var b strings.Builder
	sketchInto(&b, n, "")
	return b.String()
}

func sketchInto(b *strings.Builder, n *Node, indent string) {
	fmt.Fprintf(b, "%s%s %s", indent, n.Kind, n.Expr)
	if !n.At.IsZero() {
		fmt.Fprintf(b, " at %s", n.At.Sub(epoch))
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
			fmt.Fprintf(b, " of %s", s.SampleAt.Sub(epoch))
		}
		if s.Samples > 0 {
			fmt.Fprintf(b, " %d samples: %s at %s to %s at %s", s.Samples, s.First.Value, s.First.At.Sub(epoch), s.Last.Value, s.Last.At.Sub(epoch))
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

// scene is a core with two collectors: web exports, every ten seconds, up{i} as 0, 1
// and 1, and load, which grows; late exports limit{i} once and nothing more.
type scene struct {
	*core
	snap *Snapshot
}

// newScene plays a minute, with a pass a second.
func newScene(t *testing.T, ruleFile string) *scene {
	t.Helper()
	web, late := &fakeCollector{"web"}, &fakeCollector{"late"}
	file, errs := rules.Parse("test.yml", []byte(ruleFile), []string{Ready, Alive, Started, "gold", "silver"})
	if len(errs) > 0 {
		t.Fatalf("rules.Parse() = %v, want no error", errs)
	}
	c, err := newCore(Config{
		Files:  []*rules.File{file},
		States: []StatePolicy{{Name: "gold"}, {Name: "silver"}},
		Sources: []Source{
			{Name: "web", Kind: "scrape", Interval: 10 * time.Second, Timeout: time.Second, Collector: web},
			{Name: "late", Kind: "http", External: true, Interval: 10 * time.Second, Timeout: time.Second, Collector: late},
		},
	}, Options{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	sc := &scene{core: c}
	for s := range 61 {
		at := epoch.Add(time.Duration(s) * time.Second)
		if s%10 == 7 {
			samples := upSamples(0, 1, 1)
			samples = append(samples, collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "load", "host", "h"), Value: float64(s)})
			c.take(result{collector: web, samples: samples, descs: []collectors.Desc{{Name: "up"}, {Name: "load"}, {Name: "wait"}}}, at)
		}
		if s == 5 {
			limit := collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, "limit", "i", "a"), Value: 3}
			c.take(result{collector: late, samples: []collectors.Sample{limit}}, at)
		}
		c.evaluate(context.Background(), at)
		sc.snap = c.snapshot(context.Background(), at, 0)
	}
	return sc
}

// explain is what Evaluator.Explain says, without a cache.
func (sc *scene) explain(t *testing.T, state string, o ExplainOptions) *Explanation {
	t.Helper()
	st, chosen, err := sc.snap.choose(state, o, sc.snap.At)
	if err != nil {
		t.Fatal(err)
	}
	return sc.snap.explanation(st, chosen, sc.core.explain(context.Background(), (*explained)(nil).forSnapshot(sc.snap), chosen))
}

// tree is the tree of a rule R with this expression.
func tree(t *testing.T, expr string) *Node {
	t.Helper()
	sc := newScene(t, fmt.Sprintf("groups: [{name: g, rules: [{alert: R, expr: %q}]}]", expr))
	return sc.explain(t, Ready, ExplainOptions{Rule: "R"}).Rules[0].Tree
}

// testdata/explain.trees has a name, an expression and, indented, its tree for each case.
func TestTreeOfEachKindOfNode(t *testing.T) {
	const path = "testdata/explain.trees"
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

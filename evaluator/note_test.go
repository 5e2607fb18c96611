package evaluator_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// noter is a collector with a note.
type noter struct {
	*stub
	note string
}

func (n *noter) Note() string { return n.note }

// seeing is a collector with one series, whose label dependency is its name.
func seeing(name string, up float64, note string) evaluator.Source {
	return source(name, &noter{&stub{collect: func(context.Context) ([]collectors.Sample, error) {
		return []collectors.Sample{sample(up, "up", "dependency", name)}, nil
	}}, note})
}

const noteRules = `
groups:
  - name: g
    rules:
      - alert: Down
        expr: up{dependency!="ready"} == 0
        labels: {state: ready}
      - alert: NoneUp
        expr: sum(up{dependency="keystone"}) == 0
        labels: {state: ready}
      - alert: Gone
        expr: gone{dependency="neutron"} == 0
        labels: {state: ready}
      - alert: Both
        expr: sum(up{dependency="keystone"}) + sum(up{dependency="neutron"}) < 2
      - alert: Named
        expr: count(up) > 0
        labels: {dependency: neutron}
      - alert: UnnamedKnows
        expr: gone == 0
      - alert: Excused
        expr: count(up{dependency="keystone"} == 0) unless (up{dependency="neutron"} == 0)
      - alert: Fine
        expr: up{dependency="neutron"} == 0
`

// A rule that is not ok shows what the collectors saw that it is about.
func TestNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seen, answered = "000 10.0.0.1:5000 0.001 seconds: refused", "200 10.0.0.2:9696 0.003 seconds"
		e, stop := start(t, evaluator.Config{Files: parse(t, noteRules), Sources: []evaluator.Source{
			seeing("ready", 1, "a name that is a state's, too"), seeing("keystone", 0, seen), seeing("neutron", 1, answered), seeing("silent", 1, ""),
		}})
		defer stop()
		time.Sleep(time.Second)
		want := map[string]string{
			"Down": seen, "NoneUp": seen, "Gone": answered, "Both": seen + "; " + answered, "Named": answered, "NobodyKnows": "", "Excused": seen, "Fine": "",
		}
		for _, r := range e.Snapshot().Rules {
			if r.Note != want[r.Name] {
				t.Errorf("Note of %s, which is %s, = %q, want %q", r.Name, r.Status, r.Note, want[r.Name])
			}
		}
		if got := collector(t, e, "neutron").Note; got != answered {
			t.Errorf("Note of the collector = %q, want %q", got, answered)
		}
	})
}

func TestNotesAreOneShortLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{
			seeing("lines", 1, "\tfirst\r\nsecond \x1b[31m\xff "), seeing("long", 1, strings.Repeat("é", 200)),
		}})
		defer stop()
		time.Sleep(time.Second)
		if got, want := collector(t, e, "lines").Note, "first  second  [31m\uFFFD"; got != want {
			t.Errorf("Note = %q, want %q", got, want)
		}
		if got, want := collector(t, e, "long").Note, strings.Repeat("é", 98)+"..."; got != want {
			t.Errorf("Note = %q, want %q", got, want)
		}
	})
}

// A note is about the last collection: one that did not return has none.
func TestNoteOfACollectionThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collections := 0
		n := &noter{&stub{}, "all is well"}
		n.collect = func(ctx context.Context) ([]collectors.Sample, error) {
			if collections++; collections > 1 {
				panic("broken")
			}
			return nil, nil
		}
		e, stop := start(t, evaluator.Config{Files: parse(t, upRule), Sources: []evaluator.Source{source("c", n)}})
		defer stop()
		time.Sleep(time.Second)
		if got := collector(t, e, "c"); !got.Success || got.Note != "all is well" {
			t.Errorf("collector = %+v, want a success with the note", got)
		}
		time.Sleep(20 * time.Second)
		if got := collector(t, e, "c"); got.Success || got.Note != "" {
			t.Errorf("collector after a panic = %+v, want a failure without a note", got)
		}
	})
}

package evaluator

import (
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// maxNote bounds a collector's note, in bytes: the first line of an exec probe, of 500
// bytes, must also have room for the rule and its value.
const maxNote = 200

// parts are the notes of a collector of several parts, by the value of the label that names
// one.
type parts struct {
	label string
	notes map[string]string
}

// noteOf returns the collector's note on its last collection as one line without secrets.
func (w *worker) noteOf() string {
	n, ok := w.collector.(collectors.Noter)
	if !ok {
		return ""
	}
	return noteLine(w.shown(n.Note()))
}

// partsOf returns the notes on the parts, each as noteOf does.
func (w *worker) partsOf() (p parts) {
	n, ok := w.collector.(collectors.PartNoter)
	if !ok {
		return parts{}
	}
	p.label, p.notes = n.PartNotes()
	for value, note := range p.notes {
		p.notes[value] = noteLine(w.shown(note))
	}
	return p
}

// noteLine returns a text as one line of at most maxNote bytes.
func noteLine(s string) string { return text.Short(s, maxNote) }

// reasonOf returns why a state has its verdict: its own reason, and then the reasons and
// notes of the rules that decide it.
func (s *Snapshot) reasonOf(st State) string {
	reasons := []string{st.Reason}
	for _, i := range st.Deciding {
		reasons = append(reasons, s.Rules[i].Reason, s.Rules[i].Note)
	}
	return joined(reasons)
}

// joined returns the texts that are not empty, each once, in at most 512 bytes.
func joined(texts []string) string {
	return bound(strings.Join(unique(texts), "; "))
}

// unique returns the texts that are not empty, each once.
func unique(texts []string) []string {
	return slices.DeleteFunc(collectors.Unique(texts), func(s string) bool { return s == "" })
}

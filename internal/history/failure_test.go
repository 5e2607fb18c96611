package history_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/history"
)

func TestLastFailure(t *testing.T) {
	change := func(id uint64, from, to history.Status) *history.Event {
		return &history.Event{ID: id, Subject: history.Subject{Kind: history.State, Name: "ready"}, From: from, To: to}
	}
	ok, failing, unknown := history.OK, history.Failing, history.Unknown
	silence := &history.Event{ID: 9, Subject: history.Subject{Kind: history.State, Name: "ready"}, To: failing, Action: "silenced"}
	for name, tt := range map[string]struct {
		given []*history.Event
		want  []uint64
	}{
		"no events":                          {nil, nil},
		"never failed":                       {[]*history.Event{change(1, history.None, ok)}, nil},
		"failed and recovered":               {[]*history.Event{change(1, ok, failing), change(2, failing, ok)}, []uint64{1, 2}},
		"the last of two":                    {[]*history.Event{change(1, ok, failing), change(2, failing, ok), change(3, ok, failing)}, []uint64{3}},
		"unknown, and then failing":          {[]*history.Event{change(1, history.None, ok), change(2, ok, unknown), change(3, unknown, failing)}, []uint64{2, 3}},
		"failing at the start of a process":  {[]*history.Event{change(1, ok, failing), change(2, history.None, failing)}, []uint64{2}},
		"what an operator did is no failure": {[]*history.Event{change(1, failing, ok), silence}, nil},
	} {
		var got []uint64
		for _, e := range history.LastFailure(tt.given) {
			got = append(got, e.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: LastFailure() (-want +got):\n%s", name, diff)
		}
	}
}

func TestParsePast(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 12, 0, 0, time.UTC)
	for given, want := range map[string]string{
		"1h": "2026-01-02T02:12:00Z", "2d": "2025-12-31T03:12:00Z", "03:12": "2026-01-02T03:12:00Z", "03:13": "2026-01-01T03:13:00Z",
		"03:11:59": "2026-01-02T03:11:59Z", "2026-01-01T00:00:00+01:00": "2025-12-31T23:00:00Z", "25:00": "", "yesterday": "", "": "",
	} {
		got, ok := history.ParsePast(given, now.Local())
		if text := got.Format(time.RFC3339); ok != (want != "") || ok && text != want {
			t.Errorf("ParsePast(%q) = %s, %t, want %q", given, text, ok, want)
		}
	}
}

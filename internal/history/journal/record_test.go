package journal

import (
	"bytes"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/history"
)

// Whatever a file has: what is read can be stored, and is then read again.
func FuzzDecode(f *testing.F) {
	event := &history.Event{ID: 7, At: time.Date(2026, 1, 2, 3, 12, 7, 0, time.UTC), Subject: history.Subject{Kind: history.State, Name: "ready"}, To: history.Failing, Rules: []history.RuleMoment{{Name: "R"}}}
	record, err := encode(event)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record)
	f.Add(bytes.Repeat(record, 2)[:len(record)+20])
	f.Add(append([]byte("damaged\n"), record...))
	f.Add([]byte(checksum([]byte("null")) + " null\n"))
	f.Add([]byte(checksum([]byte(`{"id":1,"kind":"other"}`)) + ` {"id":1,"kind":"other"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, whole, damaged := decode(data)
		if whole > len(data) || damaged < 0 || len(events) == 0 != (whole == 0) {
			t.Fatalf("decode() = %d events, %d of %d bytes, %d damaged", len(events), whole, len(data), damaged)
		}
		again, same, stillDamaged := decode(data[:whole])
		if len(again) != len(events) || same != whole || stillDamaged != damaged {
			t.Fatalf("decode() of the whole records = %d events, %d bytes, %d damaged, want %d, %d, %d", len(again), same, stillDamaged, len(events), whole, damaged)
		}
		for _, e := range events {
			record, err := encode(e)
			if err != nil {
				continue // longer than it was, by escapes
			}
			if copied, n, bad := decode(record); len(copied) != 1 || n != len(record) || bad != 0 {
				t.Fatalf("decode(encode(e)) = %d events of %q, want the event", len(copied), record)
			}
		}
		_ = history.Resume(time.Now(), history.Past{Events: events})
	})
}

// BenchmarkStore is an event on its way to the file. Nothing waits for it but the journal.
func BenchmarkStore(b *testing.B) {
	s, _, err := openStore(Options{Dir: b.TempDir(), MaxBytes: 16 << 20, MaxAge: time.Hour}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	moment := history.RuleMoment{Name: "KeystoneDown", Group: "kuryr", Expr: "vitals_dependency_up == 0", Summary: "Keystone does not answer."}
	event := &history.Event{ID: 7, At: time.Now(), Subject: history.Subject{Kind: history.State, Name: "ready"}, To: history.Failing, Rules: []history.RuleMoment{moment}}
	b.ReportAllocs()
	for b.Loop() {
		record, err := encode(event)
		if err == nil {
			err = s.write(record, event.At)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		b.Fatal(err)
	}
}

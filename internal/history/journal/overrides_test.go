package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

// override has the history observe a snapshot with overrides, the last of which has just begun.
func (p *process) override(all ...evaluator.Override) {
	p.t.Helper()
	s := &evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, Overrides: all}
	if len(all) > 0 {
		s.Changes = []evaluator.OverrideChange{{Override: all[len(all)-1]}}
	}
	p.history.Observe(s)
	synctest.Wait()
}

// Overrides outlive the process, however it ends and however many events there have been.
func TestOverrides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first := start(t, options(dir))
		if _, err := os.Stat(filepath.Join(dir, overridesName)); !os.IsNotExist(err) {
			t.Errorf("Stat() = %v, want no file without overrides", err)
		}
		begin := time.Now().UTC()
		silence := evaluator.Override{Rule: "Down", State: "ready", Begin: begin, Until: begin.Add(720 * time.Hour), By: "root (uid 0)", Reason: `an "upgrade" <now>`}
		maintenance := evaluator.Override{State: "ready", Begin: begin}
		first.override(silence, maintenance)
		first.kill()

		second := start(t, options(dir))
		if diff := cmp.Diff([]evaluator.Override{silence, maintenance}, second.past.Overrides); diff != "" {
			t.Errorf("after a kill (-want +got):\n%s", diff)
		}
		second.override(silence)
		for range 1000 {
			time.Sleep(time.Minute)
			second.history.Observe(&evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, Overrides: []evaluator.Override{silence}, Changes: []evaluator.OverrideChange{{Override: silence}}})
		}
		synctest.Wait()
		second.stop()

		third := start(t, options(dir))
		if diff := cmp.Diff([]evaluator.Override{silence}, third.past.Overrides); diff != "" {
			t.Errorf("after a thousand events (-want +got):\n%s", diff)
		}
		third.override()
		time.Sleep(beat) // without an event
		third.kill()
		fourth := start(t, options(dir))
		defer fourth.stop()
		if len(fourth.past.Overrides) > 0 {
			t.Errorf("after their ends there are %+v, want none", fourth.past.Overrides)
		}
	})
}

// Stored waits until the disk has the overrides, for at most 200 ms.
func TestStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := make(chan struct{})
		dir := t.TempDir()
		p := startWith(t, options(dir), func(o Options, now time.Time) (*store, history.Past, error) {
			s, past, err := openStore(o, now)
			s.append = func(f *os.File, record []byte) (int, error) {
				<-writes
				return f.Write(record)
			}
			return s, past, err
		})
		stored := func() (ok bool, took time.Duration) {
			begin := time.Now()
			ok = p.journal.Stored(p.history)
			return ok, time.Since(begin)
		}
		p.override(evaluator.Override{Rule: "Down"})
		if ok, took := stored(); ok || took != storedTimeout {
			t.Errorf("Stored() = %t after %s while a write hangs, want false after %s", ok, took, storedTimeout)
		}
		go func() {
			time.Sleep(storedTimeout / 2)
			close(writes)
		}()
		ok, took := stored()
		if data, err := os.ReadFile(filepath.Join(dir, overridesName)); !ok || took != storedTimeout/2 || err != nil || !bytes.Contains(data, []byte("Down")) {
			t.Errorf("Stored() = %t after %s with the file %q, %v, want true once the file has the override", ok, took, data, err)
		}
		p.override(evaluator.Override{Rule: strings.Repeat("x", maxOverrides)})
		if ok, _ := stored(); ok {
			t.Error("Stored() = true for overrides that are too long for the file, want false")
		}
		p.override(evaluator.Override{Rule: "Down"})
		if ok, _ := stored(); !ok {
			t.Error("Stored() = false without the long override, want true")
		}
		p.stop()
		p.override(evaluator.Override{Rule: "Late"})
		if ok, _ := stored(); ok {
			t.Error("Stored() = true after the end of Run, want false")
		}
	})
	if !(*Journal)(nil).Stored(history.New(time.Now())) {
		t.Error("Stored() of no journal = false, want true")
	}
}

// A damaged file of overrides is left out with a warning, and the events are still there.
func TestDamagedOverrides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first := start(t, options(dir))
		first.override(evaluator.Override{Rule: "Down", Until: time.Now().Add(time.Hour)})
		first.stop()
		name := filepath.Join(dir, overridesName)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, bytes.Replace(data, []byte("Down"), []byte("Dawn"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		second := start(t, options(dir))
		defer second.stop()
		second.wantWritable(true)
		second.wantLog(`msg="damaged records of stored events are left out"`, 1)
		if len(second.past.Overrides) > 0 || len(second.past.Events) == 0 {
			t.Errorf("%d overrides and %d events, want events alone", len(second.past.Overrides), len(second.past.Events))
		}
	})
}

// Overrides that are too large for the file are logged, and events are stored all the same.
func TestLongOverrides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, options(t.TempDir()))
		defer p.stop()
		p.override(evaluator.Override{Rule: strings.Repeat("x", maxOverrides)})
		time.Sleep(3 * beat)
		p.wantLog(`msg="silences and maintenance are not stored"`, 1)
		p.wantWritable(true)
	})
}

// Whatever the file has: what is read can be stored, and is then read again.
func FuzzDecodeOverrides(f *testing.F) {
	data, err := record([]evaluator.Override{{Rule: "R", State: "ready", Until: time.Date(2026, 1, 2, 3, 12, 7, 0, time.UTC), Reason: "r"}}, maxOverrides)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Add(slices.Concat(data, data))
	f.Add([]byte(checksum([]byte("null")) + " null\n"))
	f.Add([]byte(checksum([]byte(`{"rule":1}`)) + ` {"rule":1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		overrides, ok := decodeOverrides(data)
		if !ok {
			if len(overrides) > 0 {
				t.Fatalf("decodeOverrides() = %d of a damaged file, want none", len(overrides))
			}
			return
		}
		again, err := record(overrides, maxOverrides)
		if err != nil {
			return // longer than it was, by escapes
		}
		if copied, ok := decodeOverrides(again); !ok || len(copied) != len(overrides) {
			t.Fatalf("decodeOverrides(record()) = %d of %d, %t", len(copied), len(overrides), ok)
		}
	})
}

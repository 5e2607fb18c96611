package journal

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

// process is a journal with its history, as the daemon has them. Use it in a synctest bubble.
type process struct {
	t       *testing.T
	journal *Journal
	history *history.History
	past    history.Past
	log     *output
	fails   bool
	stop    func()
}

// output is the log of a process.
type output struct {
	mu   sync.Mutex // guards what follows
	text strings.Builder
}

func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(line)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func options(dir string) Options {
	return Options{Dir: dir, MaxBytes: 64 << 10, MaxAge: 24 * time.Hour}
}

func start(t *testing.T, o Options) *process { return startWith(t, o, openStore) }

func startWith(t *testing.T, o Options, openStore func(Options, time.Time) (*store, history.Past, error)) *process {
	t.Helper()
	p := &process{t: t, log: &output{}}
	o.Logger = slog.New(slog.NewTextHandler(p.log, nil))
	p.journal, p.past = open(o, openStore)
	p.history = history.Resume(time.Now(), p.past)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.journal.Run(ctx, p.history)
	}()
	p.stop = func() {
		cancel()
		<-done
	}
	p.change()
	return p
}

// change changes the verdict, a second later, and waits until the journal has done its work.
func (p *process) change() {
	p.t.Helper()
	time.Sleep(time.Second)
	p.fails = !p.fails
	verdict := evaluator.Pass
	if p.fails {
		verdict = evaluator.Fail
	}
	p.history.Observe(&evaluator.Snapshot{At: time.Now(), MaxAge: time.Hour, States: []evaluator.State{{Name: "ready", Verdict: verdict, Reason: strings.Repeat("x", 200)}}})
	synctest.Wait()
}

// kill ends the process without a last word, as kill -9 does. The journal's goroutine ends
// later, without an effect on the files.
func (p *process) kill() {
	p.t.Helper()
	synctest.Wait()
	if err := p.journal.store.close(); err != nil {
		p.t.Fatal(err)
	}
	p.journal.store = nil
	p.stop()
}

// wantLog checks how often a message was logged.
func (p *process) wantLog(message string, times int) {
	p.t.Helper()
	synctest.Wait()
	if got := strings.Count(p.log.String(), message); got != times {
		p.t.Errorf("%q is logged %d times, want %d; the log:\n%s", message, got, times, p.log)
	}
}

func (p *process) wantWritable(want bool) {
	p.t.Helper()
	synctest.Wait()
	if got := p.journal.Writable(); got != want {
		p.t.Errorf("Writable() = %v, want %v; the log:\n%s", got, want, p.log)
	}
}

func (p *process) events() []*history.Event {
	events, _ := p.history.Events(history.Query{})
	return events
}

// segments returns the names of the segments in a directory and their size.
func segments(t *testing.T, dir string) (names []string, bytes int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "events-*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("%s has the mode %s, want 0600", name, info.Mode())
		}
		bytes += info.Size()
	}
	return names, bytes
}

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(history.Event{})); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
}

// What one process stores is what the next one has.
func TestRestart(t *testing.T) {
	for name, killed := range map[string]bool{"after an end": false, "after kill -9": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "made")
				first := start(t, options(dir))
				equal(t, 0, len(first.past.Events))
				first.change()
				time.Sleep(beat)
				seen, why := time.Now(), ""
				if killed {
					first.kill()
					why = "; the process before it ended without notice, last seen " + seen.Add(-2*time.Second).UTC().Format(time.DateTime)
				} else {
					first.history.End(time.Now())
					first.stop()
				}
				time.Sleep(time.Minute)
				second := start(t, options(dir))
				defer second.stop()
				before := first.events()
				equal(t, before, second.past.Events)
				equal(t, "started"+why, second.events()[len(before)].Reason)
				second.wantWritable(true)
				equal(t, "", second.log.String())
			})
		})
	}
}

// The last record is torn at each of its bytes: what is whole stays, and the journal goes on
// behind it.
func TestTornRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		p := start(t, options(dir))
		p.change()
		p.kill()
		before := p.events()
		names, _ := segments(t, dir)
		whole, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
		for n := last + 1; n < len(whole); n += 7 {
			write(t, names[0], whole[:n])
			next := start(t, options(dir))
			equal(t, before[:len(before)-1], next.past.Events)
			next.wantLog(fmt.Sprintf("records=0 bytes_at_end=%d", n-last), 1)
			next.kill()
			after := start(t, options(dir))
			equal(t, next.events(), after.past.Events)
			after.wantLog("damaged", 0)
			after.kill()
		}
	})
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A record that is damaged in the middle of a file is left out.
func TestDamagedRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		p := start(t, options(dir))
		p.change()
		p.kill()
		names, _ := segments(t, dir)
		data, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		second := bytes.IndexByte(data, '\n') + 1
		data[second+50] ^= 1
		write(t, names[0], data)
		next := start(t, options(dir))
		defer next.stop()
		before := p.events()
		equal(t, append(before[:1:1], before[2:]...), next.past.Events)
		next.wantLog("damaged records of stored events are left out", 1)
		next.wantLog("records=1 bytes_at_end=0", 1)
		next.wantWritable(true)
	})
}

// The files are bounded in bytes, and the newest events stay.
func TestRetentionSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		o := options(dir)
		p := start(t, o)
		for range 400 {
			p.change()
			time.Sleep(3 * time.Minute) // slower than what counts as flapping
			if _, bytes := segments(t, dir); bytes > o.MaxBytes {
				t.Fatalf("the files have %d bytes, want at most %d", bytes, o.MaxBytes)
			}
		}
		p.stop()
		names, bytes := segments(t, dir)
		if len(names) < parts || bytes < o.MaxBytes*3/4 {
			t.Errorf("%d files have %d bytes, want the bound to be used", len(names), bytes)
		}
		o.MaxBytes /= 4
		next := start(t, o)
		defer next.stop()
		if _, bytes := segments(t, dir); bytes > o.MaxBytes {
			t.Errorf("the files have %d bytes, want at most the new bound of %d", bytes, o.MaxBytes)
		}
		all := p.events()
		equal(t, all[len(all)-1], next.past.Events[len(next.past.Events)-1])
	})
}

// Events that are too old are removed, also without new ones.
func TestRetentionTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		o := options(dir)
		p := start(t, o)
		defer p.stop()
		first, _ := segments(t, dir)
		time.Sleep(o.MaxAge / 2)
		p.change()
		time.Sleep(o.MaxAge/2 + time.Minute)
		names, _ := segments(t, dir)
		equal(t, 1, len(names))
		if len(first) != 1 || names[0] == first[0] {
			t.Errorf("the files are %v after %v, want the first to be removed", names, first)
		}
	})
}

// What a start removes is one warning for each bound, and what is removed later is none.
func TestRemovedAtTheStart(t *testing.T) {
	const message = "stored events are removed at the start: a higher "
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		o := options(dir)
		first := start(t, o)
		for range 200 {
			first.change()
			time.Sleep(3 * time.Minute)
		}
		first.wantLog(message, 0)
		first.stop()
		before, _ := segments(t, dir)
		end := time.Now()
		for _, name := range before {
			if err := os.Chtimes(name, end, end); err != nil { // the bubble has a clock of its own
				t.Fatal(err)
			}
		}

		o.MaxBytes /= 4
		second := start(t, o)
		second.kill()
		removed := 0
		for _, name := range before {
			if _, err := os.Stat(name); err != nil {
				removed++
			}
		}
		second.wantLog(fmt.Sprintf(`level=WARN msg="%s--storage.retention.size keeps them" dir=%s files=%d bytes=`, message, dir, removed), 1)
		second.wantLog(message, 1)
		if removed == 0 {
			t.Error("no file is removed, want the oldest ones")
		}

		names, _ := segments(t, dir)
		for _, name := range names {
			if err := os.Chtimes(name, end, end); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(o.MaxAge + time.Hour)
		third := start(t, o)
		third.stop()
		third.wantLog(fmt.Sprintf(`%s--storage.retention.time keeps them" dir=%s files=%d `, message, dir, len(names)), 1)
		third.wantLog("age_of_newest=25h0m0s", 1)
		third.wantLog(message, 1)
	})
}

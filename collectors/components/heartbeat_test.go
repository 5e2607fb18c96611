package components

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
)

// heart is a shared boolean with a deadline, whose file is looked at each second
// of a clock that the test moves.
type heart struct {
	t    *testing.T
	c    *Collector
	path string
}

func newHeart(t *testing.T, deadline time.Duration) *heart {
	t.Helper()
	path := filepath.Join(t.TempDir(), "watcher")
	config := Config{SharedBooleans: map[string]SharedBoolean{"watcher": {Path: path, Deadline: model.Duration(deadline)}}}
	c, err := config.New(collectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	h := &heart{t, c.(*Collector), path}
	t.Cleanup(h.c.booleans[0].close)
	return h
}

// must ends the test on an error.
func (h *heart) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// beat writes the file: with a modification time, or with that of the clock.
func (h *heart) beat(value byte, mtime time.Time) {
	h.t.Helper()
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE, 0o600)
	h.must(err)
	defer f.Close()
	_, err = f.WriteAt([]byte{value}, 0)
	h.must(err)
	h.must(os.Chtimes(h.path, mtime, mtime))
}

// advance advances the clock by seconds, with a poll in each.
func (h *heart) advance(seconds int) {
	for range seconds {
		time.Sleep(time.Second)
		h.c.poll(h.c.booleans[0], true)
	}
}

func (h *heart) want(situation, want string) {
	h.t.Helper()
	s := h.c.Status()[0]
	if got := optionalText(s.Alive) + ": " + s.Reason; !strings.HasPrefix(got, want) || want == "true: " && got != want {
		h.t.Errorf("%s: alive %s, want %s", situation, got, want)
	}
}

func TestSharedBooleanHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeart(t, 30*time.Second)
		h.advance(100)
		h.want("a file that was never there", "?: shared boolean: stat ")
		h.beat(1, time.Now())
		h.advance(30)
		h.want("in time", "true: ")
		h.beat(1, time.Now())
		h.advance(30)
		h.want("written again in time", "true: ")
		h.advance(1)
		h.want("the process hangs", "false: shared boolean not written for 30s")
		h.advance(60)
		h.want("it still hangs", "false: shared boolean not written for 1m30s")
		h.beat(1, time.Now())
		h.advance(1)
		h.want("it goes on", "true: ")
		h.beat(0, time.Now())
		h.advance(40)
		h.want("it reported not alive, and hangs", "false: shared boolean is false")
	})
}

// The modification time is by the wall clock, which may be set.
func TestSharedBooleanHeartbeatWhenTheClockIsSet(t *testing.T) {
	day := 24 * time.Hour
	for name, step := range map[string]time.Duration{"the clock goes back": -day, "the clock goes ahead": day, "the file comes from the future": 100 * 365 * day} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHeart(t, 30*time.Second)
				h.beat(1, time.Now())
				h.advance(20)
				h.beat(1, time.Now().Add(step))
				h.advance(29)
				h.want("written a moment before", "true: ")
				h.advance(2)
				h.want("not written again", "false: shared boolean not written for 30s")
				h.beat(1, time.Now())
				h.advance(1)
				h.want("written with the clock set right", "true: ")
			})
		})
	}
}

// What may happen to the file when its process is started again.
func TestSharedBooleanHeartbeatOfAnotherFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeart(t, 30*time.Second)
		born := time.Now()
		h.beat(1, born)
		h.advance(20)

		// A new file that has the same modification time is another process' all the same.
		h.must(os.Rename(h.path, h.path+".old"))
		h.beat(1, born)
		h.advance(29)
		h.want("another file in the place of the first", "true: ")

		h.must(os.Truncate(h.path, 0))
		h.advance(29)
		h.want("an empty file", "?: shared boolean: file is empty")
		h.advance(2)
		h.want("an empty file without a write", "false: shared boolean not written for 30s")
		h.beat(1, time.Now())
		h.advance(1)
		h.want("a file that has been filled", "true: ")

		h.must(os.Remove(h.path))
		h.advance(29)
		h.want("no file", "?: shared boolean: stat ")
		h.advance(2)
		h.want("a file that is not created again", "false: shared boolean not written for 31s")

		h.must(os.Mkdir(h.path, 0o700))
		h.advance(100)
		h.want("a directory in the place of the file", "?: shared boolean: ")
		h.must(os.Remove(h.path))
		h.beat(1, born)
		h.advance(1)
		h.want("a file again", "true: ")
	})
}

// A write is a report; silence is none.
func TestSharedBooleanHeartbeatReports(t *testing.T) {
	for _, tt := range []struct {
		deadline time.Duration
		want     string
	}{{0, "2 reports, the last after 11s"}, {30 * time.Second, "3 reports, the last after 21s"}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHeart(t, tt.deadline)
			start := time.Now()
			h.beat(0, time.Now())
			h.advance(10)
			h.beat(1, time.Now())
			h.advance(10)
			h.beat(1, time.Now())
			h.advance(60)
			got := fmt.Sprintf("%d reports, the last after %s", h.c.known["watcher"].reports, h.c.Status()[0].LastReport.Sub(start))
			if got != tt.want {
				t.Errorf("with a deadline of %s: %s, want %s", tt.deadline, got, tt.want)
			}
		})
	}
}

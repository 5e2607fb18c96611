package logqueue_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitals-health/vitals/internal/logqueue"
)

// Lines of several goroutines arrive whole and in the order of each.
func TestQueue(t *testing.T) {
	var to bytes.Buffer
	q := logqueue.Start(&to)
	const writers, lines = 4, 100
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for l := range lines {
				fmt.Fprintf(q, "%d %d\n", w, l)
			}
		})
	}
	group.Wait()
	q.Close(time.Minute)
	var next [writers]int
	for line := range strings.Lines(to.String()) {
		var w, l int
		if _, err := fmt.Sscanf(line, "%d %d\n", &w, &l); err != nil || l != next[w] {
			t.Fatalf("line %q, %v, want number %d of its writer", line, err, next[w])
		}
		next[w]++
	}
	if next != [writers]int{lines, lines, lines, lines} || q.Dropped() != 0 {
		t.Errorf("lines = %v, %d dropped, want %d each and none", next, q.Dropped(), lines)
	}
}

// A reader that stops delays neither Write nor Close. Lines that do not fit are counted, and
// those that do arrive when it reads again.
func TestReaderThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		q := logqueue.Start(writer)
		line := []byte(strings.Repeat("x", 1023) + "\n")
		_, _ = q.Write(line)
		synctest.Wait() // the first line is being written
		const fit, more = logqueue.MaxBytes / 1024, 7
		begin := time.Now()
		for range fit + more {
			if n, err := q.Write(line); n != len(line) || err != nil {
				t.Fatalf("Write() = %d, %v, want no error", n, err)
			}
		}
		if q.Dropped() != more || time.Since(begin) != 0 {
			t.Errorf("%d lines dropped in %s, want %d and no time", q.Dropped(), time.Since(begin), more)
		}
		q.Close(time.Second)
		if took := time.Since(begin); took != time.Second {
			t.Errorf("Close() took %s, want its limit, 1s", took)
		}
		arrived := make(chan int)
		go func() {
			text, _ := io.ReadAll(reader)
			arrived <- len(text)
		}()
		synctest.Wait()
		_ = writer.Close()
		if got, want := <-arrived, (1+fit)*len(line); got != want {
			t.Errorf("%d bytes arrived, want %d", got, want)
		}
	})
}

// Of a text that is longer than the queue, such as thousands of mistakes in a configuration,
// the first lines arrive whole.
func TestTextLongerThanTheQueue(t *testing.T) {
	var to bytes.Buffer
	q := logqueue.Start(&to)
	line := strings.Repeat("x", 999) + "\n"
	const fit, more = logqueue.MaxBytes / 1000, 7
	text := []byte(strings.Repeat(line, fit+more))
	if n, err := q.Write(text); n != len(text) || err != nil {
		t.Errorf("Write() = %d, %v, want %d and no error", n, err, len(text))
	}
	q.Close(time.Minute)
	if got, want := to.String(), strings.Repeat(line, fit); got != want || q.Dropped() != more {
		t.Errorf("%d bytes arrived and %d lines were dropped, want %d and %d", len(got), q.Dropped(), len(want), more)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// Lines that cannot be written are dropped and counted.
func TestReaderThatIsGone(t *testing.T) {
	q := logqueue.Start(broken{})
	_, _ = q.Write([]byte("one\ntwo\n"))
	q.Close(time.Minute)
	if q.Dropped() != 2 {
		t.Errorf("Dropped() = %d, want 2", q.Dropped())
	}
	if got := (*logqueue.Queue)(nil).Dropped(); got != 0 {
		t.Errorf("Dropped() of no queue = %d, want 0", got)
	}
}

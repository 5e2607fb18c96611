// Package logqueue writes the log from one goroutine, so that a reader of the log that stops
// delays nothing else.
package logqueue

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// MaxBytes bounds the lines that wait. As many more may be in the write that is under way.
const MaxBytes = 1 << 20

// Queue is an io.Writer that never waits. It is safe for concurrent use.
type Queue struct {
	to         io.Writer
	dropped    atomic.Uint64
	wake       chan struct{}
	stop, done chan struct{}

	mu      sync.Mutex // guards what follows
	waiting []byte
}

// Start returns a queue whose lines one goroutine writes to a writer, until Close.
func Start(to io.Writer) *Queue {
	q := &Queue{to: to, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go q.run()
	return q
}

// Write queues lines, or drops and counts those that do not fit. It returns no error.
func (q *Queue) Write(lines []byte) (int, error) {
	n := q.add(lines)
	q.drop(lines[n:])
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return len(lines), nil
}

// add queues the first lines, as many as fit, and returns their length. A text without an end
// of line fits as a whole or not at all.
func (q *Queue) add(lines []byte) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = len(lines)
	if room := MaxBytes - len(q.waiting); n > room {
		n = bytes.LastIndexByte(lines[:room], '\n') + 1
	}
	q.waiting = append(q.waiting, lines[:n]...)
	return n
}

func (q *Queue) drop(lines []byte) { q.dropped.Add(uint64(bytes.Count(lines, []byte("\n")))) }

// Dropped returns how many lines were dropped, because the queue was full or the writer
// returned an error. A nil queue drops nothing.
func (q *Queue) Dropped() uint64 {
	if q == nil {
		return 0
	}
	return q.dropped.Load()
}

// Close writes what waits, for at most the limit. It must be called once. Later lines are not
// written.
func (q *Queue) Close(limit time.Duration) {
	close(q.stop)
	select {
	case <-q.done:
	case <-time.After(limit):
	}
}

func (q *Queue) run() {
	defer close(q.done)
	for {
		select {
		case <-q.wake:
			q.flush()
		case <-q.stop:
			q.flush()
			return
		}
	}
}

// flush writes all lines that wait.
func (q *Queue) flush() {
	q.mu.Lock()
	lines := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	if n, err := q.to.Write(lines); err != nil {
		q.drop(lines[n:])
	}
}

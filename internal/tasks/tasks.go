// Package tasks starts the goroutines of a process by name, and waits for them at its end.
package tasks

import (
	"log/slog"
	"time"
)

// Tasks are goroutines. They are not safe for concurrent use.
type Tasks struct {
	logger *slog.Logger
	all    []task
}

type task struct {
	name string
	done chan struct{}
}

// New returns no tasks. The logger gets those that do not end.
func New(logger *slog.Logger) *Tasks { return &Tasks{logger: logger} }

// Start runs f in a goroutine. The name is for the log.
func (t *Tasks) Start(name string, f func()) {
	done := make(chan struct{})
	t.all = append(t.all, task{name, done})
	go func() {
		defer close(done)
		f()
	}()
}

// Wait waits until all tasks have ended, at most for the limit in total. It logs each task
// that still runs then, such as a reload that reads from a file system that hangs.
func (t *Tasks) Wait(limit time.Duration) {
	late := time.After(limit)
	for _, task := range t.all {
		select {
		case <-task.done:
			continue
		default:
		}
		select {
		case <-task.done:
		case <-late:
			t.logger.Warn("task does not stop", "task", task.name, "waited", limit)
			late = closed()
		}
	}
}

// closed returns a channel that is always ready.
func closed() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

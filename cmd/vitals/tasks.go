package main

import (
	"log/slog"
	"time"
)

// stopTimeout bounds how long the daemon waits for its goroutines when it ends. The evaluator
// gives a collector 1 s.
const stopTimeout = 3 * time.Second

// tasks are the goroutines of the daemon. It is not safe for concurrent use.
type tasks struct {
	logger *slog.Logger
	all    []task
}

type task struct {
	name string
	done chan struct{}
}

// start runs f in a goroutine. The name is for the log.
func (t *tasks) start(name string, f func()) {
	done := make(chan struct{})
	t.all = append(t.all, task{name, done})
	go func() {
		defer close(done)
		f()
	}()
}

// wait waits until all tasks have ended, at most for the limit in total. It logs each task
// that still runs then, such as a reload that reads from a file system that hangs.
func (t *tasks) wait(limit time.Duration) {
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

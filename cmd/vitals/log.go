package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/internal/logqueue"
)

// flushTimeout bounds how long the end of the process waits for the reader of the log.
const flushTimeout = time.Second

// queueLog makes the log, and all else on stderr, go through a queue: a reader that stops does
// not delay the daemon, and one that is gone does not end it. The function that it returns
// writes what waits.
func (p *program) queueLog() (flush func()) {
	// Unlike signal.Ignore, this does not apply to the scripts of collectors.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	p.queue = logqueue.Start(p.stderr)
	p.stderr, p.log.Writer = p.queue, p.queue
	return func() {
		p.queue.Close(flushTimeout)
		signal.Stop(broken)
	}
}

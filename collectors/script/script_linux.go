package script

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/panics"
	"golang.org/x/sys/unix"
)

// drain is how long to wait for the output of a command that has ended: a process that has left
// its group may hold the pipes open.
const drain = 100 * time.Millisecond

// run starts the command, waits for its end, and kills it when ctx ends. Then every process of
// its process group is dead, and those that became children of this process are reaped. A
// grandchild becomes one if this process is the first of its container or a subreaper, see
// prctl(2).
//
// A process that leaves the group by setsid(2) or setpgid(2) is not killed: a check may restart
// a daemon. Its parent is then the first process of the container.
func (c *command) run(ctx context.Context) run {
	// The kernel sends the signal of Pdeathsig when the thread that started the process ends,
	// so the goroutine keeps the thread until then. See prctl(2), PR_SET_PDEATHSIG.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	p, err := c.start(ctx)
	if err != nil {
		return run{err: c.startError(err)}
	}
	defer p.release()
	ended := panics.Go(func() struct{} {
		awaitEnd(p.pid)
		return struct{}{}
	})
	drain := drain
	select {
	case <-ended.Done():
	case <-ctx.Done():
		drain = 0 // there is no time left
	}
	// The process is not yet reaped, so the number still identifies its group.
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	status, err := reapGroup(p.pid)
	run := run{started: true, took: time.Since(begin)}
	ended.Result()
	run.output, run.stderr, run.cut = p.pipes.finish(drain)
	run.reserved = []*budget.Reader{p.pipes.stdout.reserved, p.pipes.stderr.reserved}
	switch {
	case err != nil:
		run.err = collectors.Errorf(start, "wait for %s: %w", c.args[0], err)
	case status.Exited():
		run.exited, run.code = true, status.ExitStatus()
	case ctx.Err() != nil:
		run.signal, run.err = int(status.Signal()), c.timeoutError(run.took)
	default:
		run.signal = int(status.Signal())
		run.err = collectors.Errorf(signal, "run %s: signal %d ended it: %s", c.args[0], run.signal, status.Signal())
	}
	return run
}

// process is a command that runs.
type process struct {
	pid   int
	pipes pipes
	// release must be called after the process was reaped.
	release func()
}

// start starts the command in a new session, and so in a new process group.
func (c *command) start(ctx context.Context) (*process, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	p := &process{}
	out, err := p.pipes.stdout.open()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	stderr, err := p.pipes.stderr.open()
	if err != nil {
		p.pipes.stdout.reader.Close()
		return nil, err
	}
	defer stderr.Close()
	process, release, err := c.guard(func() (*os.Process, error) {
		return os.StartProcess(c.args[0], c.args, &os.ProcAttr{
			Dir: c.dir, Env: c.env, Files: []*os.File{null, out, stderr},
			Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
		})
	})
	if err != nil {
		p.pipes.stdout.reader.Close()
		p.pipes.stderr.reader.Close()
		return nil, err
	}
	p.pid, p.release = process.Pid, func() { _ = process.Release(); release() }
	for _, pipe := range []*pipe{&p.pipes.stdout, &p.pipes.stderr} {
		pipe.reserved = c.bodies.Reader(ctx, pipe.reader, outputFactor)
		pipe.start(c.limit)
	}
	return p, nil
}

// pipes carry what a command prints.
type pipes struct{ stdout, stderr pipe }

// finish waits for the ends of the pipes, at most as long as drain, and closes them.
func (p *pipes) finish(drain time.Duration) (output, stderr []byte, cut bool) {
	end := time.Now().Add(drain)
	for _, pipe := range []*pipe{&p.stdout, &p.stderr} {
		defer pipe.reader.Close()
		_ = pipe.reader.SetReadDeadline(end)
		pipe.reading.Result()
	}
	return p.stdout.data, p.stderr.data, p.stdout.cut
}

// pipe reads one of the outputs.
type pipe struct {
	reader *os.File
	// reserved reads from reader.
	reserved *budget.Reader
	// reading ends when data and cut are set.
	reading *panics.Task[struct{}]
	data    []byte
	cut     bool
}

// open makes the pipe and returns the end for writing.
func (p *pipe) open() (*os.File, error) {
	reader, writer, err := os.Pipe()
	p.reader = reader
	return writer, err
}

// start reads to the end, or to the deadline, and keeps at most limit bytes, or as many as there is
// memory for. A command whose output waits for memory waits, too.
func (p *pipe) start(limit int64) {
	p.reading = panics.Go(func() struct{} {
		p.data, _ = io.ReadAll(io.LimitReader(p.reserved, limit))
		more, _ := io.Copy(io.Discard, p.reader)
		p.cut = more > 0
		return struct{}{}
	})
}

// awaitEnd waits until a child has ended, without reaping it.
func awaitEnd(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), syscall.EINTR) {
	}
}

// reapGroup reaps all children in a process group, and returns how its leader ended.
func reapGroup(leader int) (syscall.WaitStatus, error) {
	var found syscall.WaitStatus
	seen := false
	for {
		var status syscall.WaitStatus
		switch pid, err := syscall.Wait4(-leader, &status, 0, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil && seen: // ECHILD: no child is left
			return found, nil
		case err != nil:
			return found, err
		case pid == leader:
			found, seen = status, true
		}
	}
}

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// printed writes the output of a command and records the first error, so that no command
// has to check every write. Not safe for concurrent use.
type printed struct {
	to  io.Writer
	err error
}

// Write writes until the first error. Later output is dropped: after a gap it would
// mislead.
func (w *printed) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}

// complete returns the exit code of a command that ended with code. A command whose output
// could not be written has not succeeded.
func (w *printed) complete(code int, stderr io.Writer) int {
	if w.err == nil {
		return code
	}
	fmt.Fprintf(stderr, "vitals: the output is incomplete: %v\n", w.err)
	if code == exitOK {
		return exitConfig
	}
	return code
}

// causes reports whether a panic is due to a failed write: the flag parser panics when it
// cannot print its help.
func (w *printed) causes(panicked any) bool {
	err, ok := panicked.(error)
	return ok && w.err != nil && errors.Is(err, w.err)
}

// print prints a result as the exec probe does and returns its exit code. A result that
// passes and could not be printed gets the style's code for a usage error.
func (p *program) print(how execprobe.Style, r execprobe.Result) int {
	_, err := fmt.Fprint(p.stdout, how.Render(r))
	if err != nil && how.Code(r) == exitOK {
		r = execprobe.Result{Outcome: execprobe.Usage}
	}
	return how.Code(r)
}

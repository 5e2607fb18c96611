package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// printed writes what a command prints and remembers that it could not, so that no
// command has to ask after each line. Not safe for concurrent use.
type printed struct {
	to  io.Writer
	err error
}

// Write writes, until that fails once: what comes after a gap would mislead.
func (w *printed) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}

// complete returns the exit code of a command that ended with code: one that could not
// print its result has not succeeded.
func (w *printed) complete(code int, stderr io.Writer) int {
	if w.err == nil {
		return code
	}
	fmt.Fprintf(stderr, "vitals: what is printed is not complete: %v\n", w.err)
	if code == exitOK {
		return exitConfig
	}
	return code
}

// causes says whether the error in a panic is that of a write: the flag parser panics
// when it cannot print its help.
func (w *printed) causes(panicked any) bool {
	err, ok := panicked.(error)
	return ok && w.err != nil && errors.Is(err, w.err)
}

// tell prints a result as the exec probe does, and returns its code. That of a result
// that passes and could not be printed is the style's own for a mistake.
func (p *program) tell(how execprobe.Style, r execprobe.Result) int {
	_, err := fmt.Fprint(p.stdout, how.Render(r))
	if err != nil && how.Code(r) == exitOK {
		r = execprobe.Result{Outcome: execprobe.Usage}
	}
	return how.Code(r)
}

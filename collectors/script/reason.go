package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/files"
)

// reason says why a script could not be run to its end, or is not understood. The
// set is closed, because it is a label.
type reason string

const (
	missing       reason = "missing"        // there is no such program
	notExecutable reason = "not_executable" // its mode lets nobody execute it
	forbidden     reason = "forbidden"      // this user may not execute it, or not look for it
	interpreter   reason = "interpreter"    // nothing can execute it: it is a directory, its interpreter is missing, it is no program
	start         reason = "start"          // any other error of starting it
	signal        reason = "signal"         // a signal ended it
	timeout       reason = "timeout"        // it did not end in time and was killed
	scriptOutput  reason = "output"         // its output is larger than the limits, and has to be read as a whole
	protocol      reason = "protocol"       // its exit code or its output is not what its convention says
)

func reasons() []reason {
	return []reason{
		missing, notExecutable, forbidden, interpreter, start,
		signal, timeout, scriptOutput, protocol,
	}
}

// reasonOfScript is the reason of an error; nil has none.
func reasonOfScript(err error) reason {
	return collectors.ReasonOf(err, func(error) reason { return start })
}

// notStarted says what is wrong with a command that the kernel did not start: of execve(2)
// there is only a number, and ENOENT means the program as well as its interpreter.
func (c *command) notStarted(err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	reason, text := c.whyNotStarted(err)
	if text == "" {
		text = err.Error()
	}
	return collectors.Errorf(reason, "run %s: %s", c.args[0], text)
}

func (c *command) whyNotStarted(err error) (reason, string) {
	info, failed := os.Stat(c.args[0])
	switch {
	case failed != nil && files.Missing(failed):
		return missing, "there is no such file"
	case errors.Is(failed, fs.ErrPermission):
		return forbidden, "this user may not look at it"
	case failed != nil:
		return start, failed.Error()
	case info.IsDir():
		return interpreter, "it is a directory"
	case info.Mode()&0o111 == 0:
		return notExecutable, "it is not executable"
	}
	if c.dir != "" {
		if _, failed := os.Stat(c.dir); failed != nil {
			return start, fmt.Sprintf("its directory cannot be entered: %v", failed)
		}
	}
	if errors.Is(err, syscall.ENOEXEC) {
		return interpreter, "it is no program of this machine, and does not begin with #!"
	}
	if name := interpreterOf(c.args[0]); name != "" {
		if info, failed := os.Stat(name); failed != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return interpreter, fmt.Sprintf("its interpreter %q cannot be executed", collectors.OneLine(name, maxScriptNote))
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the dynamic loader, which is an interpreter to the kernel
		return interpreter, "its interpreter does not exist"
	case errors.Is(err, fs.ErrPermission):
		return forbidden, "this user may not execute it"
	}
	return start, ""
}

// interpreterOf is the program that the first line of a script names; empty where there
// is none. The kernel reads 256 bytes: BINPRM_BUF_SIZE in linux/binfmts.h.
func interpreterOf(path string) string {
	f, err := files.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.NewSectionReader(f, 0, 256)).ReadString('\n')
	rest, ok := strings.CutPrefix(line, "#!")
	if words := strings.Fields(rest); ok && len(words) > 0 {
		return words[0]
	}
	return ""
}

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
	"github.com/vitals-health/vitals/internal/text"
)

// reason is why a script did not exit, or why its output is not valid. The set is closed,
// because it is a label.
type reason string

const (
	missing       reason = "missing"        // there is no such program
	notExecutable reason = "not_executable" // its mode has no execute bit
	forbidden     reason = "forbidden"      // this user may not execute it, or not stat it
	interpreter   reason = "interpreter"    // it is a directory, its interpreter is missing, or it is not a program
	start         reason = "start"          // any other error of starting it
	signal        reason = "signal"         // a signal ended it
	timeout       reason = "timeout"        // it did not end in time and was killed
	tooLarge      reason = "output"         // its output is larger than the limits
	protocol      reason = "protocol"       // its exit code or its output is not valid by its convention
)

func reasons() []reason {
	return []reason{
		missing, notExecutable, forbidden, interpreter, start,
		signal, timeout, tooLarge, protocol,
	}
}

// reasonOf returns the reason of an error, none for nil.
func reasonOf(err error) reason {
	return collectors.ReasonOf(err, func(error) reason { return start })
}

// startError returns why the kernel did not start a command. execve(2) returns a number only, and
// ENOENT is that of the program as well as of its interpreter.
func (c *command) startError(err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	reason, text := c.startReason(err)
	if text == "" {
		text = err.Error()
	}
	return collectors.Errorf(reason, "run %s: %s", c.args[0], text)
}

func (c *command) startReason(err error) (reason, string) {
	info, failed := os.Stat(c.args[0])
	switch {
	case failed != nil && files.Missing(failed):
		return missing, "there is no such file"
	case errors.Is(failed, fs.ErrPermission):
		return forbidden, "permission denied for this user"
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
		return interpreter, "it is not a program for this machine, and does not begin with #!"
	}
	if name := interpreterOf(c.args[0]); name != "" {
		if info, failed := os.Stat(name); failed != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return interpreter, fmt.Sprintf("its interpreter %q cannot be executed", text.Short(name, maxNote))
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

// interpreterOf returns the program that the first line of a script names, or "". The kernel reads 256 bytes: BINPRM_BUF_SIZE in linux/binfmts.h.
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

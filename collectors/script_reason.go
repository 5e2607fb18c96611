package collectors

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// scriptReason says why a script could not be run to its end, or is not understood. The
// set is closed, because it is a label.
type scriptReason string

const (
	scriptMissing       scriptReason = "missing"        // there is no such program
	scriptNotExecutable scriptReason = "not_executable" // its mode lets nobody execute it
	scriptForbidden     scriptReason = "forbidden"      // this user may not execute it, or not look for it
	scriptInterpreter   scriptReason = "interpreter"    // nothing can execute it: it is a directory, its interpreter is missing, it is no program
	scriptStart         scriptReason = "start"          // any other error of starting it
	scriptSignal        scriptReason = "signal"         // a signal ended it
	scriptTimeout       scriptReason = "timeout"        // it did not end in time and was killed
	scriptOutput        scriptReason = "output"         // its output is larger than the limits, and has to be read as a whole
	scriptProtocol      scriptReason = "protocol"       // its exit code or its output is not what its convention says
)

func scriptReasons() []scriptReason {
	return []scriptReason{
		scriptMissing, scriptNotExecutable, scriptForbidden, scriptInterpreter, scriptStart,
		scriptSignal, scriptTimeout, scriptOutput, scriptProtocol,
	}
}

// scriptError is an error with its reason.
type scriptError = reasonError[scriptReason]

// reasonOfScript is the reason of an error; nil has none.
func reasonOfScript(err error) scriptReason {
	var known *scriptError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.reason
	}
	return scriptStart
}

// notStarted says what is wrong with a command that the kernel did not start: of execve(2)
// there is only a number, and ENOENT means the program as well as its interpreter.
func (c *scriptCommand) notStarted(err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	reason, text := c.whyNotStarted(err)
	if text == "" {
		text = err.Error()
	}
	return &scriptError{reason, fmt.Errorf("run %s: %s", c.args[0], text)}
}

func (c *scriptCommand) whyNotStarted(err error) (scriptReason, string) {
	info, failed := os.Stat(c.args[0])
	switch {
	case failed != nil && isMissingFile(failed):
		return scriptMissing, "there is no such file"
	case errors.Is(failed, fs.ErrPermission):
		return scriptForbidden, "this user may not look at it"
	case failed != nil:
		return scriptStart, failed.Error()
	case info.IsDir():
		return scriptInterpreter, "it is a directory"
	case info.Mode()&0o111 == 0:
		return scriptNotExecutable, "it is not executable"
	}
	if c.dir != "" {
		if _, failed := os.Stat(c.dir); failed != nil {
			return scriptStart, fmt.Sprintf("its directory cannot be entered: %v", failed)
		}
	}
	if errors.Is(err, syscall.ENOEXEC) {
		return scriptInterpreter, "it is no program of this machine, and does not begin with #!"
	}
	if name := interpreterOf(c.args[0]); name != "" {
		if info, failed := os.Stat(name); failed != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return scriptInterpreter, fmt.Sprintf("its interpreter %q cannot be executed", oneLine(name, maxScriptNote))
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the dynamic loader, which is an interpreter to the kernel
		return scriptInterpreter, "its interpreter does not exist"
	case errors.Is(err, fs.ErrPermission):
		return scriptForbidden, "this user may not execute it"
	}
	return scriptStart, ""
}

// interpreterOf is the program that the first line of a script names; empty where there
// is none. The kernel reads 256 bytes: BINPRM_BUF_SIZE in linux/binfmts.h.
func interpreterOf(path string) string {
	f, err := openWithoutWaiting(path)
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

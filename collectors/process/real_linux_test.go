package process_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// realProcess is a process of this program that waits until it is killed. It is no child of
// this process, which a search for processes passes over, but one of a keeper, which in
// turn is a child of this process's parent (CLONE_PARENT in clone(2)).
type realProcess struct {
	*os.Process
	t      *testing.T
	keeper io.WriteCloser
	output *bufio.Reader
}

// realKeeper is the role of a keeper, which starts the program that the next variable names
// and waits for it on command.
const (
	realKeeper  = "keeper"
	keeperPath  = "VITALS_TEST_PATH"
	keeperChild = "VITALS_TEST_ROLE"
)

// startReal starts this program under the name of the path's last part.
func startReal(t *testing.T, path, role string) *realProcess {
	t.Helper()
	keeper := exec.Command("/proc/self/exe")
	keeper.Env = []string{processRole + "=" + realKeeper, keeperPath + "=" + path, keeperChild + "=" + role}
	keeper.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_PARENT}
	stdin, errIn := keeper.StdinPipe()
	stdout, errOut := keeper.StdoutPipe()
	if err := errors.Join(errIn, errOut, keeper.Start()); err != nil {
		t.Fatal(err)
	}
	p := &realProcess{t: t, keeper: stdin, output: bufio.NewReader(stdout)}
	t.Cleanup(func() { // the keeper ends what it keeps, and then itself
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, p.output)
	})
	lines := []string{p.readLine(), p.readLine()} // of the keeper and of the process, in any order
	slices.Sort(lines)
	pid, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if p.Process, err = os.FindProcess(pid); err != nil {
		t.Fatal(err)
	}
	if lines[1] != "started" {
		t.Fatalf("the process wrote %q, want %q", lines[1], "started")
	}
	return p
}

// readLine returns the next line of the keeper, or of the process that it keeps.
func (p *realProcess) readLine() string {
	p.t.Helper()
	line, err := p.output.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// Wait waits for the end of the process and reaps it.
func (p *realProcess) Wait() {
	p.t.Helper()
	if _, err := io.WriteString(p.keeper, "wait\n"); err != nil {
		p.t.Fatal(err)
	}
	if line := p.readLine(); line != "ended" {
		p.t.Fatalf("the keeper wrote %q, want %q", line, "ended")
	}
}

// end kills and reaps the process, as its parent does.
func (p *realProcess) end() {
	p.t.Helper()
	if err := p.Kill(); err != nil {
		p.t.Fatal(err)
	}
	p.Wait()
}

// keepReal is what a keeper does.
func keepReal() error {
	child := exec.Command(os.Getenv(keeperPath))
	child.Env = []string{processRole + "=" + os.Getenv(keeperChild)}
	child.Stdout = os.Stdout
	stdin, err := child.StdinPipe()
	if err != nil {
		return err
	}
	commands := bufio.NewReader(os.Stdin)
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println(child.Process.Pid)
	for {
		if _, err := commands.ReadString('\n'); err != nil {
			_, _, _ = child.Process.Kill(), child.Wait(), stdin.Close()
			return nil
		}
		_ = child.Wait()
		fmt.Println("ended")
	}
}

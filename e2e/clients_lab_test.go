//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// clientsWithin bounds each command of a client.
const clientsWithin = 3 * time.Minute

// console has the programs with which users reach the API server of a node: kubectl, helm and vitals.
type console struct {
	*node
	// dir is the directory of the commands. It has the folders that the documentation names.
	dir string
	// config is the kubeconfig.
	config string
}

// newConsole makes a directory with the files, for commands on the node.
func newConsole(t *testing.T, n *node, files map[string]string) console {
	t.Helper()
	c := console{n, shortDirectory(t, ""), filepath.Join(n.state, "kubelet", "kubeconfig")}
	links := map[string]string{
		"deploy": absolute(t, "../deploy"), "dashboards": absolute(t, "../dashboards"),
		"bin/kubectl": cached(t, "kubernetes-*/kubectl", "kubernetes"), "bin/helm": cached(t, "helm-*/helm", "kubernetes"),
		"bin/vitals": env(t).vitals,
	}
	if err := os.Mkdir(c.path("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range links {
		if err := os.Symlink(target, c.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(t, c.path(name), text)
	}
	return c
}

// absolute returns the absolute path.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// path returns that of a file of the directory.
func (c console) path(name string) string { return filepath.Join(c.dir, name) }

// command prepares a line of a shell, in the network of the node, as its administrator.
func (c console) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+c.network, "bash", "-euo", "pipefail", "-c", line)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.config, "HOME="+c.dir, "PATH="+c.path("bin")+":"+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	return cmd
}

// try runs a line and returns what it prints.
func (c console) try(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), clientsWithin)
	defer cancel()
	out, err := c.command(ctx, line).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", line, err, out)
	}
	return string(out), err
}

// sh runs a line, which has to succeed, and returns what it prints.
func (c console) sh(t *testing.T, line string) string {
	t.Helper()
	out, err := c.try(line)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// prints waits until a line succeeds and its output has all patterns, and returns the output.
func (c console) prints(t *testing.T, line string, patterns ...string) (out string) {
	t.Helper()
	await(t, line, clientsWithin, func() (err error) {
		out, err = c.try(line)
		for _, p := range patterns {
			if err == nil && !regexp.MustCompile(p).MatchString(out) {
				err = fmt.Errorf("%s prints\n%s\nwant %s", line, out, p)
			}
		}
		return err
	})
	return out
}

// started is a line that runs.
type started struct {
	done    chan struct{}
	printed string
	err     error
}

// start starts a line. The test waits for its end.
func (c console) start(t *testing.T, line string) *started {
	t.Helper()
	s := &started{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.printed, s.err = c.try(line)
	}()
	t.Cleanup(func() { <-s.done })
	return s
}

// ended reports whether the line has ended.
func (s *started) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// ends waits for the end of the line, which has to succeed, and returns what it printed.
func (s *started) ends(t *testing.T) string {
	t.Helper()
	<-s.done
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.printed
}

// background runs a line until the end of the test.
func (c console) background(t *testing.T, line string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := c.command(ctx, "exec "+line)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // killed by the test
	})
}

// documented returns the only line of a page that begins so, without a comment behind it.
func documented(t *testing.T, page, start string) string {
	t.Helper()
	var found []string
	for line := range strings.Lines(read(t, filepath.Join("..", page))) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " # ")
		if strings.HasPrefix(line, start) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has the commands %q that begin with %q, want one", page, found, start)
	}
	return found[0]
}

// shownYAML returns the only block of a page that has a text.
func shownYAML(t *testing.T, page, with string) string {
	t.Helper()
	var found []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, filepath.Join("..", page)), -1) {
		if strings.Contains(block[1], with) {
			found = append(found, block[1])
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d blocks with %q, want one", page, len(found), with)
	}
	return found[0]
}

// replaced returns a text with pairs of texts replaced. Each of them has to be there.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The images of the node.
const (
	checkedImage = "docker.io/library/your-service:checked"
	vitalsImage  = "docker.io/library/vitals:latest"
)

// node is a real kubelet and an API server, in namespaces of their own.
type node struct {
	apiServer
	// state is the directory for the scripts, and network the node's namespace.
	state, network string
}

// startNode starts a node. It ends with this process, however that ends: a guard waits
// for it, which an interrupt does not reach.
func startNode(t *testing.T) *node {
	t.Helper()
	state := os.Getenv(stateVariable)
	if state == "" {
		state = shortDirectory(t, "")
	}
	n := &node{state: state}
	log, err := os.Create(filepath.Join(logDirectory(t), "kubelet-stop.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	guard := n.command("sh", "-c", "read end; exec ./kubelet.sh stop")
	guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	guard.Stdout, guard.Stderr = log, log
	end, err := guard.StdinPipe()
	if err == nil {
		err = guard.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var space *os.File
	t.Cleanup(func() {
		_ = end.Close()
		if err := guard.Wait(); err != nil {
			t.Errorf("the node does not end: %v\n%s", err, read(t, log.Name()))
		}
		if space == nil {
			return
		}
		defer space.Close()
		if left := processesIn(t, space); len(left) > 0 {
			t.Errorf("the node leaves the processes %q, want none", left)
		}
	})
	start := n.command("./kubelet.sh", "start")
	start.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("kubelet.sh start: %v\n%s", err, out)
	}
	first := strings.Fields(read(t, filepath.Join(state, "kubelet", "run", "node")))[0]
	n.network = "/proc/" + first + "/ns/net"
	// While it is open, no other namespace gets its number.
	if space, err = os.Open("/proc/" + first + "/ns/pid_for_children"); err != nil {
		t.Fatal(err)
	}
	n.apiServer = newAPIServer(t, filepath.Join(state, "kubelet"), n.dial)
	return n
}

// processesIn are those of a PID namespace.
func processesIn(t *testing.T, space *os.File) []string {
	t.Helper()
	want, err := space.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, link := range links {
		if in, err := os.Stat(link); err == nil && os.SameFile(want, in) {
			command, _ := os.ReadFile(strings.TrimSuffix(link, "ns/pid") + "cmdline")
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// command prepares a command with the path of the node's state.
func (n *node) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), stateVariable+"="+n.state)
	return cmd
}

// ctr runs containerd's client.
func (n *node) ctr(t *testing.T, args ...string) {
	t.Helper()
	if out, err := n.command("./kubelet.sh", append([]string{"ctr"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("ctr %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// there opens something in the node's network, to which it belongs in every thread. The
// thread returns to its own network: it may be the first one, which cannot end, and whose
// network counts as that of the process. A thread that cannot return is ended.
func there[T any](network string, open func() (T, error)) (T, error) {
	type result struct {
		opened T
		err    error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread()
		var r result
		defer func() { done <- r }()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			r.err = err
			return
		}
		defer home.Close()
		if r.err = enter(network); r.err != nil {
			return
		}
		r.opened, r.err = open()
		if err := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); err != nil {
			r.err = errors.Join(r.err, err)
			return
		}
		runtime.UnlockOSThread()
	}()
	r := <-done
	return r.opened, r.err
}

// enter moves the thread into a network.
func enter(network string) error {
	f, err := os.Open(network)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
}

func (n *node) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return there(n.network, func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, network, address) })
}

// listen takes connections on an address of the node, and closes them, until the test
// closes the listener.
func (n *node) listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := there(n.network, func() (net.Listener, error) { return net.Listen("tcp", address) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_ = c.Close()
		}
	}()
	return l
}

// exampleImages gives the node the images of deploy/container and of deploy, built by
// their files with the programs of a directory, except that no compiler runs in an image. The
// service is one of a static program.
func (n *node) exampleImages(t *testing.T, dir string) {
	t.Helper()
	p := newPodman(t)
	notices(t, dir)
	build := exec.Command("go", "build", "-tags", "e2e", "-trimpath", "-o", filepath.Join(dir, "service"), "./kubelet/service")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the service: %v\n%s", err, out)
	}
	_, last, ok := strings.Cut(read(t, "../deploy/Dockerfile"), "\nFROM scratch\n")
	if !ok || !strings.Contains(last, "COPY --from=build /src/bin/vitals ") {
		t.Fatal("deploy/Dockerfile has no last stage that copies vitals into an empty image")
	}
	write(t, filepath.Join(dir, "ca-certificates.crt"), "")
	write(t, filepath.Join(dir, "Service"), "FROM scratch\nCOPY service /\nENTRYPOINT [\"/service\"]\n")
	write(t, filepath.Join(dir, "Vitals"), "FROM scratch\n"+
		strings.NewReplacer("--from=build /src/bin/", "", " /src/bin/", " ", "--from=build /etc/ssl/certs/", "").Replace(last))
	archive := filepath.Join(dir, "images.tar")
	for _, args := range [][]string{
		{"build", "--format=docker", "--file=" + filepath.Join(dir, "Service"), "--tag=your-service", dir},
		{"build", "--format=docker", "--file=../deploy/container/Dockerfile", "--build-arg=BASE=your-service", "--tag=" + checkedImage, dir},
		{"build", "--format=docker", "--file=" + filepath.Join(dir, "Vitals"), "--tag=" + vitalsImage, dir},
		{"save", "--format=docker-archive", "--multi-image-archive", "--output=" + archive, checkedImage, vitalsImage},
	} {
		if _, err := p.run(args...); err != nil {
			t.Fatal(err)
		}
	}
	n.ctr(t, "images", "import", archive)
}

// container is the status of a container in the API.
type container struct {
	Name, ContainerID string
	RestartCount      int
	Ready, Started    bool
	State, LastState  struct {
		Running    *struct{}
		Terminated *termination
	}
}

// termination is the end of a container.
type termination struct {
	ExitCode int
	Message  string
}

// pod is the status of a pod in the API.
type pod struct {
	Metadata struct{ Name, DeletionTimestamp string }
	Status   struct {
		PodIP, Phase                             string
		Conditions                               []struct{ Type, Status string }
		ContainerStatuses, InitContainerStatuses []container
	}
}

// container returns the one with the name.
func (p pod) container(name string) container {
	all := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	i := slices.IndexFunc(all, func(c container) bool { return c.Name == name })
	if i < 0 {
		return container{}
	}
	return all[i]
}

// ready is the condition Ready.
func (p pod) ready() string {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status
		}
	}
	return "absent"
}

// pod reads a pod.
func (n *node) pod(name string) (p pod, err error) {
	return p, n.get("/api/v1/namespaces/default/pods/"+name, &p)
}

// event returns an error unless the kubelet has sent such an event of the pod. It sends 25
// warnings of a pod, and then one in five minutes.
func (n *node) event(pod, reason, text string) error {
	var events struct {
		Items []struct {
			Reason, Message string
			InvolvedObject  struct{ FieldPath string }
		}
	}
	if err := n.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name="+pod, &events); err != nil {
		return err
	}
	var seen []string
	for _, e := range events.Items {
		message := e.InvolvedObject.FieldPath + ": " + e.Message
		if e.Reason == reason && strings.Contains(message, text) {
			return nil
		}
		seen = append(seen, e.Reason+": "+message)
	}
	return fmt.Errorf("events are %q, want %s with %q", seen, reason, text)
}

// send sends a request into the node's network, which has to be accepted.
func (n *node) send(t *testing.T, method, url string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: n.dial, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s = %d, want 200", method, url, res.StatusCode)
	}
}

// configMap is an object with files.
func configMap(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]string{"name": name}, "data": files})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

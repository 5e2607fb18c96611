package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

// container is a container of TripleO as the profile sees it: the files of an image, the
// processes that it shows in proc(5), and real servers.
type container struct {
	// dir has the container's files below root, and its processes in proc.
	dir string
	// status is the response status of the HTTP server.
	status    atomic.Int32
	http      *httptest.Server
	processes []labProcess
	// shut ends the other servers.
	shut []func()
	// ports are the values of the placeholders in the files.
	ports map[string]string
	log   bytes.Buffer
}

// newContainer makes one in which all servers answer and no process but the first runs.
func newContainer(t *testing.T) *container {
	t.Helper()
	// The path of a socket is short.
	dir := collectortest.Dir(t)
	c := &container{dir: dir, ports: map[string]string{"LAST": fmt.Sprint(time.Now().Unix() - 10)}}
	c.status.Store(http.StatusOK)
	c.http = serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(c.status.Load())) }))
	c.ports["HTTP"] = port(c.http.Listener.Addr())
	etcd := serveHTTP(t, etcdServer(t))
	c.ports["ETCD"], c.shut = port(etcd.Listener.Addr()), append(c.shut, etcd.Close)
	for name, serve := range map[string]func(io.ReadWriter){
		"REDIS": redisServer("s3cret"), "MEMCACHED": memcachedServer(), "RABBITMQ": rabbitServer("s3cret"), "ROUTER": routerServer(),
	} {
		address, shut := serveConn(t, "tcp", "127.0.0.1:0", serve)
		c.ports[name], c.shut = port(address), append(c.shut, shut)
	}
	c.proc(t)
	return c
}

func port(a net.Addr) string { return fmt.Sprint(a.(*net.TCPAddr).Port) }

// root is a path inside the container, seen from outside.
func (c *container) root(path string) string { return filepath.Join(c.dir, "root", path) }

// install writes the configuration of all services.
func (c *container) install(t *testing.T) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/tripleo.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		c.write(t, f.Name, string(f.Data))
	}
}

// write writes a file of the container, with its placeholders filled in.
func (c *container) write(t *testing.T, path, text string) {
	t.Helper()
	for name, value := range c.ports {
		text = strings.ReplaceAll(text, "@"+name+"@", value)
	}
	labFile(t, c.root(path), text)
}

// sockets serves requests on Unix sockets.
func (c *container) sockets(t *testing.T) {
	t.Helper()
	for path, serve := range map[string]func(io.ReadWriter){
		"/var/run/collectd-socket": collectdServer(), "/var/run/ovn/ovn-northd.7.ctl": northdServer(), "/var/lib/mysql/mysql.sock": mysqlServer(),
		"@ISCSIADM_ABSTRACT_NAMESPACE": promptServer(1, ""), "@/org/kernel/linux/storage/multipathd": multipathServer(),
	} {
		if strings.HasPrefix(path, "@") {
			path = c.abstract(path)
		} else if path = c.root(path); os.MkdirAll(filepath.Dir(path), 0o755) != nil {
			t.Fatalf("%s cannot be made", filepath.Dir(path))
		}
		_, shut := serveConn(t, "unix", path, serve)
		c.shut = append(c.shut, shut)
	}
}

// abstract is the name of an abstract socket that no other test has.
func (c *container) abstract(name string) string { return name + filepath.Base(c.dir) }

// proc shows these processes instead of those that were there.
func (c *container) proc(t *testing.T, processes ...labProcess) {
	t.Helper()
	c.processes = processes
	writeProc(t, filepath.Join(c.dir, "proc"), processes)
}

// program is one with --profile=tripleo and these settings of --set.
func (c *container) program(stdout io.Writer, settings ...string) *program {
	p := &program{
		stdout: stdout, stderr: &c.log, log: &promslog.Config{Writer: &c.log, Level: promslog.NewLevel()},
		profile: "tripleo", set: map[string]string{"root": c.root("")}, adjust: c.pointAt,
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		p.set[name] = value
	}
	return p
}

// once evaluates the profile as the exec probe does without a daemon.
func (c *container) once(t *testing.T, state, style string, settings ...string) (code int, out string) {
	t.Helper()
	var stdout bytes.Buffer
	code = c.program(&stdout, settings...).runOnce(state, style, 20*time.Second)
	return code, stdout.String()
}

// config is the configuration that the settings make of the profile.
func (c *container) config(t *testing.T, settings ...string) *config.Config {
	t.Helper()
	l, errs := c.program(io.Discard, settings...).load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return &l.Config
}

// pointAt points the profile at the container's own processes and sockets.
func (c *container) pointAt(cfg *config.Config) {
	forEachKind(cfg, func(k *kinds.Kinds) {
		switch {
		case k.Process != nil:
			k.Process.ProcFS = filepath.Join(c.dir, "proc")
		case k.TCP != nil:
			if name, ok := strings.CutPrefix(k.TCP.Address, "unix:@"); ok {
				k.TCP.Address = "unix:" + c.abstract("@"+name)
			}
		}
	})
}

// runs makes the processes of a service that are named, each with all that it should
// hold; spoil changes their sockets.
func (c *container) runs(t *testing.T, service tripleo.Service, names []string, spoil func([]labSocket) []labSocket) {
	t.Helper()
	var all []labProcess
	for _, p := range service.Processes {
		if !slices.Contains(names, p.Name) {
			continue
		}
		made := labProcess{comm: p.Comm, args: []string{p.Comm}}
		if p.Comm == "" {
			made.comm, made.args = "python3", []string{"/usr/bin/python3", "/usr/bin/" + p.Argument, "--config-file", "/etc/x.conf"}
		}
		for _, port := range p.Connections {
			made.sockets = append(made.sockets, connected(port, tcpEstablished))
		}
		for _, port := range p.Listen {
			made.sockets = append(made.sockets, listening(port))
		}
		for _, port := range p.UDP {
			made.sockets = append(made.sockets, bound(port))
		}
		if p.UDPFrom != nil {
			made.sockets = append(made.sockets, bound(8126))
		}
		for _, path := range p.UnixSockets[:min(1, len(p.UnixSockets))] {
			made.sockets = append(made.sockets, holding(path))
		}
		made.sockets = spoil(made.sockets)
		all = append(all, made)
	}
	c.proc(t, all...)
}

// unchanged leaves sockets as they are, and broken makes them refuse service:
// connections are being made, and nothing is held.
func unchanged(all []labSocket) []labSocket { return all }

func broken(all []labSocket) []labSocket {
	var left []labSocket
	for _, s := range all {
		if s.remote != 0 {
			s.state = tcpSynSent
			left = append(left, s)
		}
	}
	return left
}

// forEachKind calls f with the kind of every collector.
func forEachKind(c *config.Config, f func(*kinds.Kinds)) {
	for i := range c.Collectors {
		f(&c.Collectors[i].Kinds)
	}
}

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// managed is a program as supervisord reports it.
type managed struct {
	group, name string
	// state is supervisord's number: see supervisordStates.
	state, exit int
	spawnErr    string
}

// The states of programs. Source: http://supervisord.org/subprocess.html#process-states
const (
	stStopped  = 0
	stStarting = 10
	stRunning  = 20
	stBackoff  = 30
	stExited   = 100
	stFatal    = 200
)

// supervisord imitates the answer of a supervisord on a Unix socket.
type supervisord struct {
	socket string
	// release ends the answers that hang.
	release chan struct{}

	// mu guards what follows.
	mu       sync.Mutex
	programs []managed
	// state is 1 while it runs, 0 while it restarts, -1 while it shuts down.
	state int
	// status is the HTTP status, fault the number of a fault, where they are not zero.
	status, fault int
	hangs         bool
}

// startSupervisord listens in a directory until the test ends. Its start program has
// finished and its critical ones run.
func startSupervisord(t *testing.T, dir string) *supervisord {
	t.Helper()
	s := &supervisord{socket: filepath.Join(dir, "supervisor.sock"), release: make(chan struct{})}
	s.reset()
	listener, err := net.Listen("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(s.answer)}}
	server.Start()
	t.Cleanup(func() {
		close(s.release)
		server.Close()
		_ = os.Remove(s.socket)
	})
	return s
}

// reset makes all well.
func (s *supervisord) reset() {
	s.change(func() {
		s.state, s.status, s.fault, s.hangs = 1, 0, 0, false
		s.programs = []managed{
			{"start", "start", stExited, 0, ""},
			{"snmpd", "snmpd", stRunning, 0, ""},
			{"dhcp", "relay", stRunning, 0, ""},
			{"rsyslogd", "rsyslogd", stRunning, 0, ""},
		}
	})
}

func (s *supervisord) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// set replaces a program, by its name.
func (s *supervisord) set(m managed) {
	s.change(func() {
		for i, p := range s.programs {
			if p.name == m.name {
				s.programs[i] = m
			}
		}
	})
}

func (s *supervisord) answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangs {
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-s.release:
		}
		s.mu.Lock()
		return
	}
	if s.status != 0 {
		http.Error(w, "no", s.status)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	if s.fault != 0 {
		fmt.Fprintf(w, `<methodResponse><fault><value><struct>%s%s</struct></value></fault></methodResponse>`,
			xmlMember("faultCode", s.fault), xmlMember("faultString", "SHUTDOWN_STATE"))
		return
	}
	var programs strings.Builder
	for _, p := range s.programs {
		fmt.Fprintf(&programs, "<value><struct>%s%s%s%s%s%s%s</struct></value>",
			xmlMember("group", p.group), xmlMember("name", p.name), xmlMember("state", p.state), xmlMember("exitstatus", p.exit),
			xmlMember("spawnerr", p.spawnErr), xmlMember("start", 1_700_000_000), xmlMember("now", 1_700_000_200))
	}
	fmt.Fprintf(w, `<methodResponse><params><param><value><array><data><value><struct>%s</struct></value>`+
		`<value><array><data>%s</data></array></value></data></array></value></param></params></methodResponse>`,
		xmlMember("statecode", s.state), programs.String())
}

// xmlMember is a member of a struct of XML-RPC.
func xmlMember(name string, value any) string {
	kind := "string"
	if _, ok := value.(int); ok {
		kind = "int"
	}
	return fmt.Sprintf("<member><name>%s</name><value><%s>%v</%s></value></member>", name, kind, value, kind)
}

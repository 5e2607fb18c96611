package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/unixsocket"
)

func TestSocketRights(t *testing.T) {
	tests := []struct {
		flags socketFlags
		want  socketRights
		err   string
	}{
		{socketFlags{mode: "0660"}, socketRights{0o660, unixsocket.OwnGroup, nil}, ""},
		{socketFlags{mode: "666", group: "65532", writers: []string{"65531", "0"}}, socketRights{0o666, 65532, []uint32{65531, 0}}, ""},
		{socketFlags{mode: "0600", group: "root", writers: []string{"root"}}, socketRights{0o600, 0, []uint32{0}}, ""},
		{socketFlags{mode: "0440"}, socketRights{}, "--web.unix-socket-mode=0440: expected octal"},
		{socketFlags{mode: "1777"}, socketRights{}, "--web.unix-socket-mode=1777: expected octal"},
		{socketFlags{mode: "rw"}, socketRights{}, "--web.unix-socket-mode=rw: expected octal"},
		{socketFlags{mode: ""}, socketRights{}, "--web.unix-socket-mode=: expected octal"},
		{socketFlags{mode: "0660", group: "4294967295"}, socketRights{}, "--web.unix-socket-group=4294967295: value out of range: expected"},
		{socketFlags{mode: "0660", group: "-1"}, socketRights{}, "--web.unix-socket-group=-1: group: unknown group -1: expected"},
		{socketFlags{mode: "0660", writers: []string{"1", "n0body"}}, socketRights{}, "--web.unix-socket-writer=n0body: user: unknown user n0body: expected"},
	}
	for _, tt := range tests {
		got, err := tt.flags.rights()
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("rights() of %+v = %v, want %q", tt.flags, err, tt.err)
			}
			continue
		}
		if err != nil || got.mode != tt.want.mode || got.group != tt.want.group || !slices.Equal(got.users, tt.want.users) {
			t.Errorf("rights() of %+v = %+v, %v, want %+v", tt.flags, got, err, tt.want)
		}
	}
}

// Whoever may connect may probe; these may write.
func TestWriters(t *testing.T) {
	w := &writers{own: 1000, users: []uint32{2000, 2001}, group: 3000}
	for name, tt := range map[string]struct {
		peer unixsocket.Peer
		may  bool
	}{
		"root":                               {unixsocket.Peer{UID: 0, GID: 9}, true},
		"the daemon's own user":              {unixsocket.Peer{UID: 1000, GID: 9}, true},
		"a user who was named":               {unixsocket.Peer{UID: 2001, GID: 9}, true},
		"the socket's group":                 {unixsocket.Peer{UID: 9, GID: 3000}, true},
		"the socket's group, supplementary":  {unixsocket.Peer{UID: 9, GID: 9, Groups: []uint32{7, 3000}}, true},
		"another user":                       {unixsocket.Peer{UID: 9, GID: 9, Groups: []uint32{7, 8}}, false},
		"a user with the number of a group":  {unixsocket.Peer{UID: 3000, GID: 9}, false},
		"a group with the number of a user":  {unixsocket.Peer{UID: 9, GID: 1000, Groups: []uint32{0, 2000}}, false},
		"a user of another user's namespace": {unixsocket.Peer{UID: 65534, GID: 65534}, false},
	} {
		err := w.check(tt.peer)
		if (err == nil) != tt.may {
			t.Errorf("%s: check(%+v) = %v, want allowed: %t", name, tt.peer, err, tt.may)
		}
		if cure := fmt.Sprintf("--web.unix-socket-writer=%d", tt.peer.UID); err != nil && !strings.HasSuffix(err.Error(), cure) {
			t.Errorf("%s: check() = %v, want the cure %s", name, err, cure)
		}
	}
}

// Where nobody can say who connected, the permissions alone decide.
func TestWritersOfASystemThatDoesNotTell(t *testing.T) {
	for _, tt := range []struct {
		closed bool
		err    error
		may    bool
	}{
		{true, errors.ErrUnsupported, true}, {false, errors.ErrUnsupported, false}, {true, fs.ErrPermission, false},
	} {
		if err := (&writers{closed: tt.closed}).unknown(tt.err); (err == nil) != tt.may {
			t.Errorf("unknown(%v) with a socket closed to others: %t = %v, want allowed: %t", tt.err, tt.closed, err, tt.may)
		}
	}
	r := httptest.NewRequest(http.MethodPut, "/", nil)
	if err := new(writers).mayWrite(r); err == nil {
		t.Error("mayWrite() of a request without a connection = nil, want an error")
	}
}

// The process' own user, at least, may write.
func TestSocketModeAndGroup(t *testing.T) {
	dir := t.TempDir()
	config := write(t, dir, "vitals.yml", "collectors: [{name: parts, components: {expect: [watcher]}}]\n")
	p := runVitals(t, config, "--web.enable-lifecycle", "--web.unix-socket-mode=0666", fmt.Sprintf("--web.unix-socket-group=%d", os.Getgid()))
	info, err := os.Lstat(p.socket)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("Lstat() of the socket = %v, %v, want the mode 666", info, err)
	}
	client := &http.Client{Transport: overSocket(p.socket), Timeout: patience}
	for _, tt := range []struct {
		method, path, body string
		code               int
	}{
		{"PUT", "/api/v1/components/watcher", `{"alive": true}`, 204},
		{"POST", "/-/reload", "", 200},
		{"GET", "/alive", "", 200},
	} {
		r, err := http.NewRequest(tt.method, "http://vitals"+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil || answer.StatusCode != tt.code {
			t.Fatalf("%s %s = %v, %v, want %d", tt.method, tt.path, answer, err, tt.code)
		}
		_ = answer.Body.Close()
	}
}

func TestWritersKnowTheSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l := newListeners()
	defer l.close()
	if err := l.openSocket(socketFlags{path: path, mode: "0660", writers: []string{"7"}}); err != nil {
		t.Fatal(err)
	}
	if l.writers.group != uint32(os.Getegid()) || l.writers.own != uint32(os.Geteuid()) || !l.writers.closed || !slices.Equal(l.writers.users, []uint32{7}) {
		t.Errorf("writers = %+v, want this process' user and group, and 7", l.writers)
	}
}

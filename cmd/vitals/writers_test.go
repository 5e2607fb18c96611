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

// In a user namespace, the overflow numbers are no reason to let anyone write.
func TestWritersInAUserNamespace(t *testing.T) {
	const nobody = 65534
	within := overflowID{nobody, true}
	stranger := unixsocket.Peer{UID: nobody, GID: nobody, Groups: []uint32{nobody}}
	for name, tt := range map[string]struct {
		w    writers
		peer unixsocket.Peer
		may  bool
	}{
		"the own user and group are the overflow ones": {writers{own: nobody, group: nobody, overflowUser: within, overflowGroup: within}, stranger, false},
		"the user is":                    {writers{own: nobody, group: 7, overflowUser: within, overflowGroup: within}, stranger, false},
		"the group is":                   {writers{own: 7, group: nobody, overflowUser: within, overflowGroup: within}, stranger, false},
		"the group is, of another user":  {writers{own: 7, group: nobody, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: 8, GID: 8, Groups: []uint32{nobody}}, false},
		"a user who was named is":        {writers{own: 7, users: []uint32{nobody}, group: 7, overflowUser: within, overflowGroup: within}, stranger, false},
		"root":                           {writers{own: nobody, group: nobody, overflowUser: within, overflowGroup: within}, unixsocket.Peer{}, true},
		"a user who was named":           {writers{own: nobody, users: []uint32{8}, group: nobody, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: 8, GID: nobody}, true},
		"the own user is another":        {writers{own: 8, group: nobody, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: 8, GID: nobody}, true},
		"a stranger in the group":        {writers{own: nobody, group: 7, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: nobody, GID: nobody, Groups: []uint32{7}}, true},
		"outside of any user namespace":  {writers{own: nobody, group: nobody}, stranger, true},
		"the overflow user is another":   {writers{own: nobody, group: 7, overflowUser: overflowID{99, true}}, stranger, true},
		"the group's namespace has all":  {writers{own: nobody, group: nobody, overflowUser: within}, stranger, true},
		"all users are in the namespace": {writers{own: nobody, group: 7, overflowGroup: within}, stranger, true},
	} {
		if err := tt.w.check(tt.peer); (err == nil) != tt.may {
			t.Errorf("%s: check(%+v) of %+v = %v, want allowed: %t", name, tt.peer, tt.w, err, tt.may)
		}
	}
}

func TestOverflowOf(t *testing.T) {
	const whole = "         0          0 4294967295\n"
	for name, tt := range map[string]struct {
		ids, overflow string
		want          overflowID
	}{
		"the initial namespace":      {whole, "65534\n", overflowID{}},
		"a container's":              {"         0     100000      65536\n", "65534\n", overflowID{65534, true}},
		"with another overflow user": {"         0     100000      65536\n", "99\n", overflowID{99, true}},
		"in two parts":               {"0 0 65536\n65536 65536 4294901759\n", "65534\n", overflowID{65534, true}},
		"no users yet":               {"", "65534\n", overflowID{65534, true}},
		"no /proc":                   {"-", "-", overflowID{65534, true}},
		"no overflow user":           {"0 1000 1\n", "-", overflowID{65534, true}},
		"a strange overflow user":    {"0 1000 1\n", "nobody\n", overflowID{65534, true}},
	} {
		proc := t.TempDir()
		for path, text := range map[string]string{"self/uid_map": tt.ids, "sys/kernel/overflowuid": tt.overflow} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(proc, path)), 0o700); err != nil {
				t.Fatal(err)
			}
			if text != "-" {
				write(t, proc, path, text)
			}
		}
		if got := overflowOf(proc, "uid"); got != tt.want {
			t.Errorf("%s: overflowOf() = %+v, want %+v", name, got, tt.want)
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

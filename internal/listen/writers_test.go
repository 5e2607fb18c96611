package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/unixsocket"
)

func TestSocketRights(t *testing.T) {
	tests := []struct {
		flags Socket
		want  socketRights
		err   string
	}{
		{Socket{Mode: "0660"}, socketRights{0o660, unixsocket.OwnGroup, nil}, ""},
		{Socket{Mode: "666", Group: "65532", Writers: []string{"65531", "0"}}, socketRights{0o666, 65532, []uint32{65531, 0}}, ""},
		{Socket{Mode: "0600", Group: "root", Writers: []string{"root"}}, socketRights{0o600, 0, []uint32{0}}, ""},
		{Socket{Mode: "0440"}, socketRights{}, "--web.unix-socket-mode=0440: expected octal"},
		{Socket{Mode: "1777"}, socketRights{}, "--web.unix-socket-mode=1777: expected octal"},
		{Socket{Mode: "rw"}, socketRights{}, "--web.unix-socket-mode=rw: expected octal"},
		{Socket{Mode: ""}, socketRights{}, "--web.unix-socket-mode=: expected octal"},
		{Socket{Mode: "0660", Group: "4294967295"}, socketRights{}, "--web.unix-socket-group=4294967295: value out of range: expected"},
		{Socket{Mode: "0660", Group: "-1"}, socketRights{}, "--web.unix-socket-group=-1: group: unknown group -1: expected"},
		{Socket{Mode: "0660", Writers: []string{"1", "n0body"}}, socketRights{}, "--web.unix-socket-writer=n0body: user: unknown user n0body: expected"},
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

// Every user that may connect may probe. Only these may write.
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
	const overflow = 65534
	within := overflowID{overflow, true}
	outsider := unixsocket.Peer{UID: overflow, GID: overflow, Groups: []uint32{overflow}}
	for name, tt := range map[string]struct {
		w    writers
		peer unixsocket.Peer
		may  bool
	}{
		"the own user and group are the overflow ones": {writers{own: overflow, group: overflow, overflowUser: within, overflowGroup: within}, outsider, false},
		"the user is":                    {writers{own: overflow, group: 7, overflowUser: within, overflowGroup: within}, outsider, false},
		"the group is":                   {writers{own: 7, group: overflow, overflowUser: within, overflowGroup: within}, outsider, false},
		"the group is, of another user":  {writers{own: 7, group: overflow, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: 8, GID: 8, Groups: []uint32{overflow}}, false},
		"a user who was named is":        {writers{own: 7, users: []uint32{overflow}, group: 7, overflowUser: within, overflowGroup: within}, outsider, false},
		"root":                           {writers{own: overflow, group: overflow, overflowUser: within, overflowGroup: within}, unixsocket.Peer{}, true},
		"a user who was named":           {writers{own: overflow, users: []uint32{8}, group: overflow, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: 8, GID: overflow}, true},
		"the own user is another":        {writers{own: 8, group: overflow, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: 8, GID: overflow}, true},
		"an outsider in the group":       {writers{own: overflow, group: 7, overflowUser: within, overflowGroup: within}, unixsocket.Peer{UID: overflow, GID: overflow, Groups: []uint32{7}}, true},
		"outside of any user namespace":  {writers{own: overflow, group: overflow}, outsider, true},
		"the overflow user is another":   {writers{own: overflow, group: 7, overflowUser: overflowID{99, true}}, outsider, true},
		"the group's namespace has all":  {writers{own: overflow, group: overflow, overflowUser: within}, outsider, true},
		"all users are in the namespace": {writers{own: overflow, group: 7, overflowGroup: within}, outsider, true},
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
		"an invalid overflow user":   {"0 1000 1\n", "many\n", overflowID{65534, true}},
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

// Where the system does not report the user of a client, the permissions alone decide.
func TestWritersWithoutPeerCredentials(t *testing.T) {
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

func TestWritersReadTheGroupOfTheSocket(t *testing.T) {
	path := filepath.Join(collectortest.Dir(t), "s")
	l := unopened()
	defer l.Close()
	if err := l.openSocket(Socket{Path: path, Mode: "0660", Writers: []string{"7"}}); err != nil {
		t.Fatal(err)
	}
	made := l.socket.Load().writers
	if made.group != uint32(os.Getegid()) || made.own != uint32(os.Geteuid()) || !made.closed || !slices.Equal(made.users, []uint32{7}) {
		t.Errorf("writers = %+v, want this process' user and group, and 7", made)
	}
}

// The user of a client is that of the kernel, by its name if it has one.
func TestPeerName(t *testing.T) {
	path := filepath.Join(collectortest.Dir(t), "s")
	ln, err := unixsocket.Listen(path, 0o600, unixsocket.OwnGroup)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := ln.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	uid := fmt.Sprint(os.Geteuid())
	want := "uid " + uid
	if known, err := user.LookupId(uid); err == nil {
		want = known.Username + " (uid " + uid + ")"
	}
	if got := peerName(conn); got != want {
		t.Errorf("peerName() = %q, want %q", got, want)
	}
	if got := peerName(client); got != want { // both ends are this process
		t.Errorf("peerName() of the other end = %q, want %q", got, want)
	}
	left, right := net.Pipe()
	defer left.Close()
	defer right.Close()
	if got := peerName(left); got != "an unknown user" {
		t.Errorf("peerName() of a pipe = %q, want an unknown user", got)
	}
}

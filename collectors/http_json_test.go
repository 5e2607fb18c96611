package collectors

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// FuzzJSONAt holds the values that are found against the keys that the kind file finds.
func FuzzJSONAt(f *testing.F) {
	for _, seed := range []struct{ body, path string }{
		{` {"a": [1, {"b.c": null}]} `, `a.1."b.c"`}, {`[[], "x"]`, "1"}, {`3`, "0"}, {`{"": {"0": true}}`, `"".0`}, {`{"a":1,"a":{"b":2}}`, "a.b"},
	} {
		f.Add(seed.body, seed.path)
	}
	f.Fuzz(func(t *testing.T, body, path string) {
		key, err := parseFileKey(path)
		if err != nil || !json.Valid([]byte(body)) {
			return
		}
		value, found := jsonAt([]byte(body), key)
		if found && !json.Valid(value) {
			t.Errorf("%s of %s is %s, want JSON", path, body, value)
		}
		if found && shownJSON(value) == "" {
			t.Errorf("%s of %s is shown as nothing", path, body)
		}
		if parsed, wrong := parseFormat(formatJSON, []byte(body)); wrong == nil && parsed.has(key) != found {
			t.Errorf("%s of %s is found: %t, want %t", path, body, found, parsed.has(key))
		}
		if found {
			sameScalar(value, "1")
			sameScalar(value, `"x"`)
		}
	})
}

func TestHTTPReasons(t *testing.T) {
	dial := func(errno syscall.Errno) error {
		return fmt.Errorf("get: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)})
	}
	for _, tt := range []struct {
		name  string
		given error
		want  Reason
	}{
		{"nothing failed", nil, ""},
		{"no address of the family", &net.OpError{Op: "dial", Err: &net.AddrError{Err: "no suitable address found", Addr: "localhost"}}, ReasonDNS},
		{"Unix socket of others", dial(syscall.EACCES), ReasonForbidden},
		{"file of others", &os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, ReasonProtocol},
		{"no IPv6 here", dial(syscall.EADDRNOTAVAIL), ReasonRefused},
		{"nobody listens", dial(syscall.ECONNREFUSED), ReasonRefused},
		{"reason that is known", fmt.Errorf("get: %w", failed(ReasonMissingEndpoint, "%w", dial(syscall.ECONNREFUSED))), ReasonMissingEndpoint},
	} {
		if got := httpReason(tt.given); got != tt.want {
			t.Errorf("%s: httpReason(%v) = %q, want %q", tt.name, tt.given, got, tt.want)
		}
	}
}

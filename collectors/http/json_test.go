package http

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/remote"
)

// hasKey reports whether JSON has a value at key, in the simplest way.
func hasKey(body string, key file.Key) bool {
	var value any
	if json.Unmarshal([]byte(body), &value) != nil {
		return false
	}
	for _, step := range key {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[step.Name]
			if !ok {
				return false
			}
			value = next
		case []any:
			if step.Index < 0 || step.Index >= len(v) {
				return false
			}
			value = v[step.Index]
		default:
			return false
		}
	}
	return true
}

// FuzzJSONAt compares jsonAt with hasKey.
func FuzzJSONAt(f *testing.F) {
	for _, seed := range []struct{ body, path string }{
		{` {"a": [1, {"b.c": null}]} `, `a.1."b.c"`}, {`[[], "x"]`, "1"}, {`3`, "0"}, {`{"": {"0": true}}`, `"".0`}, {`{"a":1,"a":{"b":2}}`, "a.b"},
	} {
		f.Add(seed.body, seed.path)
	}
	f.Fuzz(func(t *testing.T, body, path string) {
		key, err := file.ParseKey(path)
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
		if want := hasKey(body, key); found != want {
			t.Errorf("%s of %s is found: %t, want %t", path, body, found, want)
		}
		if found {
			sameScalar(value, "1")
			sameScalar(value, `"x"`)
		}
	})
}

func TestReasons(t *testing.T) {
	dial := func(errno syscall.Errno) error {
		return fmt.Errorf("get: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)})
	}
	for _, tt := range []struct {
		name  string
		given error
		want  remote.Reason
	}{
		{"nothing failed", nil, ""},
		{"no address of the family", &net.OpError{Op: "dial", Err: &net.AddrError{Err: "no suitable address found", Addr: "localhost"}}, remote.ReasonDNS},
		{"Unix socket of another user", dial(syscall.EACCES), remote.ReasonForbidden},
		{"file of another user", &os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, remote.ReasonProtocol},
		{"no IPv6 here", dial(syscall.EADDRNOTAVAIL), remote.ReasonRefused},
		{"no listener", dial(syscall.ECONNREFUSED), remote.ReasonRefused},
		{"error with a reason", fmt.Errorf("get: %w", collectors.Errorf(remote.ReasonMissingEndpoint, "%w", dial(syscall.ECONNREFUSED))), remote.ReasonMissingEndpoint},
	} {
		if got := reason(tt.given); got != tt.want {
			t.Errorf("%s: reason(%v) = %q, want %q", tt.name, tt.given, got, tt.want)
		}
	}
}

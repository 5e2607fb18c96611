package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

func TestReasonUntil(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		given error
		want  remote.Reason
	}{
		{"nothing failed", over, nil, ""},
		{"the error of a check", over, fmt.Errorf("query: %w", collectors.Errorf(remote.ReasonAuth, "no")), remote.ReasonAuth},
		{"a library closed the connection when the collection was over", over, net.ErrClosed, remote.ReasonTimeout},
		{"a Unix socket of another user", t.Context(), &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EACCES)}, remote.ReasonForbidden},
		{"a Unix socket whose queue is full", t.Context(), &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EAGAIN)}, remote.ReasonTimeout},
		{"no listener", t.Context(), &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, remote.ReasonRefused},
		{"anything else", t.Context(), errors.New("odd"), remote.ReasonProtocol},
	} {
		if got := remote.ReasonUntil(c.ctx, c.given); got != c.want {
			t.Errorf("%s: ReasonUntil(%v) = %q, want %q", c.name, c.given, got, c.want)
		}
	}
}

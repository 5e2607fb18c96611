package execprobe

import (
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A signal interrupts a system call that has a limit, see signal(7), and the runtime sends
// its own from time to time. The answer is waited for all the same.
func TestQueryInterrupted(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	asking := syscall.Gettid()
	socket := serve(t, func(c net.Conn) {
		readRequest(c)
		for range 20 {
			_ = syscall.Tgkill(syscall.Getpid(), asking, syscall.SIGURG)
			<-time.After(time.Millisecond)
		}
		_, _ = io.WriteString(c, reply("200 OK", passing))
	})
	if r := Query(socket, "ready", time.Now().Add(time.Minute)); r.Outcome != OK {
		t.Errorf("Query() with signals = %s %q, want %s", r.Outcome, r.Text, OK)
	}
}

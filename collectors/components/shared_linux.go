package components

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Filesystems whose files are in memory, so that a read of them never waits for a
// device or a server. Source: statfs(2).
const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// each calls poll at once, then every d until ctx ends. It waits for a timer of the kernel
// (timerfd_create(2)) with the network poller. A timer of Go also wakes the monitor of the
// scheduler, and so does every ordinary system call after a wait: two or three more
// thread wake-ups, each as expensive as the read. So poll uses raw system calls if they
// cannot block.
func each(ctx context.Context, d time.Duration, poll func()) {
	if timer, err := newTimer(d); err == nil {
		stop := context.AfterFunc(ctx, func() { _ = timer.Close() })
		eachExpiry(timer, poll)
		stop()
		_ = timer.Close()
	}
	eachTick(ctx, d, poll) // only without a timer of the kernel
}

// eachExpiry calls poll at once and whenever the timer expires, until it is closed.
func eachExpiry(timer *os.File, poll func()) {
	wait, err := timer.SyscallConn()
	for err == nil {
		poll()
		err = wait.Read(expired)
	}
}

// newTimer returns a file that can be read whenever d has passed.
func newTimer(d time.Duration) (*os.File, error) {
	const clockMonotonic = 1
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil, os.NewSyscallError("timerfd_create", errno)
	}
	timer := os.NewFile(fd, "timer")
	spec := struct{ interval, value syscall.Timespec }{syscall.NsecToTimespec(d.Nanoseconds()), syscall.NsecToTimespec(d.Nanoseconds())}
	_, _, errno = syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	if errno != 0 {
		_ = timer.Close()
		return nil, os.NewSyscallError("timerfd_settime", errno)
	}
	return timer, nil
}

// expired reports whether a timer has expired since the last call. It does not block.
func expired(fd uintptr) bool {
	var times [8]byte
	_, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&times)), unsafe.Sizeof(times))
	return errno == 0
}

// inMemory reports whether a read of the file cannot block.
func inMemory(file *os.File) bool {
	var fs syscall.Statfs_t
	if syscall.Fstatfs(int(file.Fd()), &fs) != nil {
		return false
	}
	kind := uint32(fs.Type)
	return kind == tmpfsMagic || kind == ramfsMagic
}

// readMemory reads the first byte of a file that is in memory.
func readMemory(file *os.File) (byte, error) {
	var octet [1]byte
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PREAD64, file.Fd(), uintptr(unsafe.Pointer(&octet)), 1, 0, 0, 0)
	switch {
	case errno != 0:
		return 0, os.NewSyscallError("pread", errno)
	case n == 0:
		return 0, io.EOF
	}
	return octet[0], nil
}

package netlink

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
)

// reasonOf returns the reason of an error, and "" for nil.
func reasonOf(err error) reason {
	return collectors.ReasonOf(err, classify)
}

func classify(err error) reason {
	var errno unix.Errno
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded):
		return timeout
	case errors.As(err, &errno):
		return reasonOfErrno(errno)
	}
	return protocol
}

func reasonOfErrno(errno unix.Errno) reason {
	switch errno {
	case unix.EAGAIN, unix.ETIMEDOUT:
		return timeout
	case unix.EPERM, unix.EACCES:
		return forbidden
	case unix.ENOBUFS, unix.ENOMEM, unix.EMFILE, unix.ENFILE:
		return overflow
	case unix.EINTR:
		return interrupted
	case unix.EOPNOTSUPP, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.ENOSYS:
		return unsupported
	}
	return protocol
}

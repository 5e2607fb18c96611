package collectors

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// netlinkError is an error with its reason.
type netlinkError = reasonError[netlinkReason]

// reasonOfNetlink is the reason of an error; nil is no reason.
func reasonOfNetlink(err error) netlinkReason {
	var known *netlinkError
	var errno unix.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.reason
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded):
		return netlinkTimeout
	case errors.As(err, &errno):
		return reasonOfErrno(errno)
	}
	return netlinkProtocol
}

func reasonOfErrno(errno unix.Errno) netlinkReason {
	switch errno {
	case unix.EAGAIN, unix.ETIMEDOUT:
		return netlinkTimeout
	case unix.EPERM, unix.EACCES:
		return netlinkForbidden
	case unix.ENOBUFS, unix.ENOMEM, unix.EMFILE, unix.ENFILE:
		return netlinkOverflow
	case unix.EINTR:
		return netlinkInterrupted
	case unix.EOPNOTSUPP, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.ENOSYS:
		return netlinkUnsupported
	}
	return netlinkProtocol
}

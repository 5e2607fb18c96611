package collectors

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// netlinkReason says why the kernel did not do what it was asked for. The set is
// closed, because it is a label.
type netlinkReason string

const (
	netlinkTimeout     netlinkReason = "timeout"     // no answer in time
	netlinkForbidden   netlinkReason = "forbidden"   // the permission is missing
	netlinkOverflow    netlinkReason = "overflow"    // no room: a full buffer, no memory, no descriptor left
	netlinkInterrupted netlinkReason = "interrupted" // the links changed in each try
	netlinkNamespace   netlinkReason = "namespace"   // the network namespace is not there
	netlinkUnsupported netlinkReason = "unsupported" // the kernel, or what stands for it, cannot do it
	netlinkProtocol    netlinkReason = "protocol"    // an answer that makes no sense, and all else
)

// netlinkReasons are all reasons, in the order in which they are exported.
func netlinkReasons() []netlinkReason {
	return []netlinkReason{
		netlinkTimeout, netlinkForbidden, netlinkOverflow, netlinkInterrupted,
		netlinkNamespace, netlinkUnsupported, netlinkProtocol,
	}
}

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

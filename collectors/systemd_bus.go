package collectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/godbus/dbus/v5"
)

// systemdReason says why systemd told nothing. The set is closed, because it is a label.
type systemdReason string

const (
	systemdMissing   systemdReason = "missing"   // no socket, or no systemd on the bus
	systemdRefused   systemdReason = "refused"   // nobody listens on the socket
	systemdForbidden systemdReason = "forbidden" // the socket, the bus or systemd refuses this user
	systemdTimeout   systemdReason = "timeout"
	systemdProtocol  systemdReason = "protocol" // what was answered makes no sense
)

// systemdReasons are all of them, in the order in which they are exported.
func systemdReasons() [5]systemdReason {
	return [...]systemdReason{systemdMissing, systemdRefused, systemdForbidden, systemdTimeout, systemdProtocol}
}

// reasonOfSystemd classifies an error; nil is no failure.
// Source of the names: https://dbus.freedesktop.org/doc/dbus-specification.html and
// dbus/dbus-protocol.h
func reasonOfSystemd(err error) systemdReason {
	if err == nil {
		return ""
	}
	if known, ok := errors.AsType[*reasonError[systemdReason]](err); ok {
		return known.reason
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded):
		return systemdTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return systemdRefused
	case errors.Is(err, fs.ErrNotExist):
		return systemdMissing
	case errors.Is(err, fs.ErrPermission):
		return systemdForbidden
	}
	said, _ := errors.AsType[dbus.Error](err)
	switch name := strings.TrimPrefix(said.Name, "org.freedesktop.DBus.Error."); {
	case name == "AccessDenied", name == "AuthFailed", name == "InteractiveAuthorizationRequired":
		return systemdForbidden
	case name == "NoReply", name == "Timeout", name == "TimedOut":
		return systemdTimeout
	case name == "ServiceUnknown", name == "NameHasNoOwner", strings.HasPrefix(name, "Spawn."):
		return systemdMissing
	}
	return systemdProtocol
}

// busConn ends with a round, and what ends it ends with it.
type busConn struct {
	*tcpConn
	stop func() bool
}

// Close implements net.Conn.
func (c *busConn) Close() error {
	c.stop()
	return c.tcpConn.Close()
}

// dialBus connects to the bus behind a socket, and logs in as the user of this process.
// No file descriptor can be passed on such a connection.
func dialBus(ctx context.Context, path string) (*dbus.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	bound, stop := boundTCP(ctx, conn)
	bus, err := dbus.NewConn(&busConn{bound, stop})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if err = login(bus); err != nil {
		_ = bus.Close()
		return nil, err
	}
	return bus, nil
}

// login says who this process is. A daemon that does not know the user, such as one of
// DynamicUser= without nss-systemd, takes the login and leaves.
func login(bus *dbus.Conn) error {
	err := bus.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err != nil {
		if err.Error() == "dbus: authentication failed" { // none of the logins is taken; the library has no name for it
			err = &reasonError[systemdReason]{systemdForbidden, err}
		}
		return err
	}
	err = bus.Hello()
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		err = &reasonError[systemdReason]{systemdForbidden, fmt.Errorf("the bus leaves after the login: it does not know user %d: %w", os.Geteuid(), err)}
	}
	return err
}

// unitStatus is what systemd lists of a unit: ListUnitsByNames in org.freedesktop.systemd1(5).
type unitStatus struct {
	Name, Description, LoadState, ActiveState, SubState, Following string

	Path    dbus.ObjectPath
	Job     uint32
	JobType string
	JobPath dbus.ObjectPath
}

const systemdName = "org.freedesktop.systemd1"

// listUnits asks for units in the order of their names, those that are not loaded among
// them. It needs systemd 230.
func listUnits(ctx context.Context, bus *dbus.Conn, names []string) (list []unitStatus, err error) {
	manager := bus.Object(systemdName, "/org/freedesktop/systemd1")
	err = manager.CallWithContext(ctx, systemdName+".Manager.ListUnitsByNames", 0, names).Store(&list)
	if err == nil && len(list) != len(names) {
		err = fmt.Errorf("%d answers: expected %d", len(list), len(names))
	}
	if err != nil {
		return nil, fmt.Errorf("list units: %w", err)
	}
	return list, nil
}

// unitProperty asks for one property of a unit.
func unitProperty[T any](ctx context.Context, bus *dbus.Conn, unit unitStatus, kind, property string) (value T, err error) {
	var answer dbus.Variant
	object := bus.Object(systemdName, unit.Path)
	err = object.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, systemdName+"."+kind, property).Store(&answer)
	if err != nil {
		return value, fmt.Errorf("property %s: %w", property, err)
	}
	value, ok := answer.Value().(T)
	if !ok {
		return value, fmt.Errorf("property %s has type %s: expected %T", property, answer.Signature(), value)
	}
	return value, nil
}

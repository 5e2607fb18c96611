package systemd

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
	"sync/atomic"
	"syscall"

	manager "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

// reason is the reason of a failure. The set is closed, because it is a label.
type reason string

const (
	missing   reason = "missing"   // no socket, or no systemd on the bus
	refused   reason = "refused"   // no listener on the socket
	forbidden reason = "forbidden" // the socket, the bus or systemd rejects this user
	timeout   reason = "timeout"
	protocol  reason = "protocol" // an invalid answer
)

// reasons are all reasons in the order of the export.
func reasons() [5]reason {
	return [...]reason{missing, refused, forbidden, timeout, protocol}
}

// reasonOf returns the reason of an error, and "" for nil.
// Source of the names: https://dbus.freedesktop.org/doc/dbus-specification.html and
// dbus/dbus-protocol.h
func reasonOf(err error) reason { return collectors.ReasonOf(err, classify) }

func classify(err error) reason {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded):
		return timeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return refused
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case errors.Is(err, fs.ErrPermission):
		return forbidden
	}
	answer, _ := errors.AsType[dbus.Error](err)
	switch name := strings.TrimPrefix(answer.Name, "org.freedesktop.DBus.Error."); {
	case name == "AccessDenied", name == "AuthFailed", name == "InteractiveAuthorizationRequired":
		return forbidden
	case name == "NoReply", name == "Timeout", name == "TimedOut":
		return timeout
	case name == "ServiceUnknown", name == "NameHasNoOwner", strings.HasPrefix(name, "Spawn."):
		return missing
	}
	return protocol
}

// busConn is a connection that ends with the collection.
type busConn struct {
	*remote.Conn
	stop func() bool
}

// Close implements net.Conn.
func (c *busConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// busReader records the first read error. The library then closes the connection and
// returns only "closed" for later calls.
type busReader struct {
	io.ReadWriteCloser
	ended atomic.Pointer[error]
}

// Read implements io.Reader.
func (r *busReader) Read(b []byte) (n int, err error) {
	defer func() {
		if err != nil {
			r.ended.CompareAndSwap(nil, &err)
		}
	}()
	defer panics.Into(&err) // the library reads in a goroutine of its own
	return r.ReadWriteCloser.Read(b)
}

// why returns the recorded error if err is only that of a closed connection.
func (r *busReader) why(err error) error {
	if errors.Is(err, dbus.ErrClosed) || errors.Is(err, net.ErrClosed) {
		if ended := r.ended.Load(); ended != nil {
			return *ended
		}
	}
	return err
}

// noSignals ignores signals and closes their channels. The client of the library waits for
// signals on every connection. On one that has ended, it would wait for ever with the
// default handler: one leaked goroutine for each collection while the bus hangs.
type noSignals struct{}

// DeliverSignal implements dbus.SignalHandler.
func (noSignals) DeliverSignal(string, string, *dbus.Signal) {}

// AddSignal implements dbus.SignalRegistrar.
func (noSignals) AddSignal(signals chan<- *dbus.Signal) { close(signals) }

// RemoveSignal implements dbus.SignalRegistrar.
func (noSignals) RemoveSignal(chan<- *dbus.Signal) {}

// dial connects to systemd by the bus behind a socket. The library needs two
// connections, one of them for signals. Both end with ctx.
func dial(ctx context.Context, path string) (*manager.Conn, error) {
	return manager.NewConnection(func() (*dbus.Conn, error) { return dialBus(ctx, path) })
}

// maxRead limits the bytes that a collection reads from a connection.
const maxRead = 1 << 20

// dialBus connects to the bus behind a socket, and logs in as the user of this process.
// No file descriptor can be passed on such a connection.
func dialBus(ctx context.Context, path string) (*dbus.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	bound, stop := remote.Bound(ctx, conn, maxRead)
	bus, reader, err := newBus(&busConn{bound, stop})
	if err != nil {
		return nil, err
	}
	if err = login(bus, reader); err != nil {
		_ = bus.Close()
		return nil, err
	}
	return bus, nil
}

// newBus takes ownership of conn.
func newBus(conn io.ReadWriteCloser) (*dbus.Conn, *busReader, error) {
	reader := &busReader{ReadWriteCloser: conn}
	bus, err := dbus.NewConn(reader, dbus.WithSignalHandler(noSignals{}))
	if err != nil {
		_ = conn.Close()
	}
	return bus, reader, err
}

// login authenticates this process.
func login(bus *dbus.Conn, reader *busReader) error {
	err := authenticate(bus)
	if err == nil {
		err = hello(bus, reader)
	}
	return err
}

func authenticate(bus *dbus.Conn) error {
	err := bus.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err != nil && err.Error() == "dbus: authentication failed" { // the library has no error value for a rejected login
		err = &collectors.Error[reason]{Reason: forbidden, Err: err}
	}
	return err
}

// hello makes the first call. For an unknown user, such as one of DynamicUser= without
// nss-systemd, the bus accepts the login and closes the connection.
func hello(bus *dbus.Conn, reader *busReader) error {
	err := reader.why(bus.Hello())
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		err = collectors.Errorf(forbidden, "the bus closed the connection after the login: user %d is unknown to it: %w", os.Geteuid(), err)
	}
	return err
}

// listUnits queries units by name, also those that are not loaded, in the order of names.
// It needs systemd 230.
func listUnits(ctx context.Context, systemd *manager.Conn, names []string) ([]manager.UnitStatus, error) {
	list, err := systemd.ListUnitsByNamesContext(ctx, names)
	if err == nil && len(list) != len(names) {
		err = fmt.Errorf("%d answers: expected %d", len(list), len(names))
	}
	if err != nil {
		return nil, fmt.Errorf("list units: %w", err)
	}
	return list, nil
}

// unitProperty queries a property of a unit. kind is the interface, such as Service.
func unitProperty[T any](ctx context.Context, systemd *manager.Conn, unit, kind, property string) (value T, err error) {
	answer, err := systemd.GetUnitTypePropertyContext(ctx, unit, kind, property)
	if err != nil {
		return value, fmt.Errorf("property %s: %w", property, err)
	}
	value, ok := answer.Value.Value().(T)
	if !ok {
		return value, fmt.Errorf("property %s has type %s: expected %T", property, answer.Value.Signature(), value)
	}
	return value, nil
}

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
)

// reason says why systemd told nothing. The set is closed, because it is a label.
type reason string

const (
	missing   reason = "missing"   // no socket, or no systemd on the bus
	refused   reason = "refused"   // nobody listens on the socket
	forbidden reason = "forbidden" // the socket, the bus or systemd refuses this user
	timeout   reason = "timeout"
	protocol  reason = "protocol" // what was answered makes no sense
)

// reasons are all of them, in the order in which they are exported.
func reasons() [5]reason {
	return [...]reason{missing, refused, forbidden, timeout, protocol}
}

// reasonOfSystemd classifies an error; nil is no failure.
// Source of the names: https://dbus.freedesktop.org/doc/dbus-specification.html and
// dbus/dbus-protocol.h
func reasonOfSystemd(err error) reason { return collectors.ReasonOf(err, classify) }

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
	said, _ := errors.AsType[dbus.Error](err)
	switch name := strings.TrimPrefix(said.Name, "org.freedesktop.DBus.Error."); {
	case name == "AccessDenied", name == "AuthFailed", name == "InteractiveAuthorizationRequired":
		return forbidden
	case name == "NoReply", name == "Timeout", name == "TimedOut":
		return timeout
	case name == "ServiceUnknown", name == "NameHasNoOwner", strings.HasPrefix(name, "Spawn."):
		return missing
	}
	return protocol
}

// busConn ends with a round, and what ends it ends with it.
type busConn struct {
	*remote.Conn
	stop func() bool
}

// Close implements net.Conn.
func (c *busConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// busReader remembers why nothing more could be read. The library closes a connection then,
// and all that it says of a call from then on is that it is closed: whether a call was
// waiting at that moment, and so learns more, is chance.
type busReader struct {
	io.ReadWriteCloser
	ended atomic.Pointer[error]
}

// Read implements io.Reader.
func (r *busReader) Read(b []byte) (int, error) {
	n, err := r.ReadWriteCloser.Read(b)
	if err != nil {
		r.ended.CompareAndSwap(nil, &err)
	}
	return n, err
}

// why is what ended the connection, where err says no more than that it is closed.
func (r *busReader) why(err error) error {
	if errors.Is(err, dbus.ErrClosed) || errors.Is(err, net.ErrClosed) {
		if ended := r.ended.Load(); ended != nil {
			return *ended
		}
	}
	return err
}

// noSignals takes no signal, and ends at once who waits for some. The library's client
// waits on every connection, also on one that has ended meanwhile; the default handler
// would leave it waiting for ever then: one goroutine a round, while the bus hangs.
type noSignals struct{}

// DeliverSignal implements dbus.SignalHandler.
func (noSignals) DeliverSignal(string, string, *dbus.Signal) {}

// AddSignal implements dbus.SignalRegistrar.
func (noSignals) AddSignal(signals chan<- *dbus.Signal) { close(signals) }

// RemoveSignal implements dbus.SignalRegistrar.
func (noSignals) RemoveSignal(chan<- *dbus.Signal) {}

// dialSystemd connects to systemd by the bus behind a socket. The library wants two
// connections, one of them for signals. Both end with ctx.
func dialSystemd(ctx context.Context, path string) (*manager.Conn, error) {
	return manager.NewConnection(func() (*dbus.Conn, error) { return dialBus(ctx, path) })
}

// maxRead is how many bytes a collection reads from the bus.
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

// login says who this process is.
func login(bus *dbus.Conn, reader *busReader) error {
	err := authenticate(bus)
	if err == nil {
		err = hello(bus, reader)
	}
	return err
}

func authenticate(bus *dbus.Conn) error {
	err := bus.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err != nil && err.Error() == "dbus: authentication failed" { // none of the logins is taken; the library has no name for it
		err = &collectors.Error[reason]{Reason: forbidden, Err: err}
	}
	return err
}

// hello makes the first call. A daemon that does not know the user, such as one of
// DynamicUser= without nss-systemd, takes the login and leaves.
func hello(bus *dbus.Conn, reader *busReader) error {
	err := reader.why(bus.Hello())
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		err = collectors.Errorf(forbidden, "the bus leaves after the login: it does not know user %d: %w", os.Geteuid(), err)
	}
	return err
}

// listUnits asks for units in the order of their names, those that are not loaded among
// them. It needs systemd 230.
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

// unitProperty asks for one property of a unit, of an interface such as Unit or Service.
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

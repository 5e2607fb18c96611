package systemd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	manager "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
)

// The library reads what the bus sends in a goroutine of its own, where a panic would end
// the program. For any data after the login, a collection ends.
func FuzzAnswers(f *testing.F) {
	reply := func(kind dbus.Type, field dbus.HeaderField, value any, body any) []byte {
		m := &dbus.Message{Type: kind, Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(uint32(1)), field: dbus.MakeVariant(value)}, Body: []any{body}}
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body))
		var b bytes.Buffer
		if err := m.EncodeTo(&b, binary.LittleEndian); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	f.Add(reply(dbus.TypeMethodReply, dbus.FieldSender, "org.freedesktop.DBus", ":1.1"))
	f.Add(reply(dbus.TypeMethodReply, dbus.FieldSender, ":1.1", []manager.UnitStatus{{Name: "a.service", Path: "/a", JobPath: "/"}}))
	f.Add(reply(dbus.TypeMethodReply, dbus.FieldSender, ":1.1", dbus.MakeVariant(uint64(1))))
	f.Add(reply(dbus.TypeError, dbus.FieldErrorName, "org.freedesktop.DBus.Error.ServiceUnknown", "no such name"))
	signal := &dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath("/org/freedesktop/DBus")), dbus.FieldInterface: dbus.MakeVariant("org.freedesktop.DBus"), dbus.FieldMember: dbus.MakeVariant("NameAcquired"),
	}}
	var b bytes.Buffer
	if err := signal.EncodeTo(&b, binary.LittleEndian); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, answers []byte) {
		systemd, err := manager.NewConnection(func() (*dbus.Conn, error) {
			conn := &playedBus{parts: [][]byte{[]byte("REJECTED EXTERNAL\r\n"), []byte("OK 00\r\n"), answers}}
			bus, reader, err := newBus(conn)
			if err != nil {
				t.Fatal(err)
			}
			if err := login(bus, reader); err != nil {
				return nil, errors.Join(err, bus.Close())
			}
			return bus, nil
		})
		if err == nil {
			_, _ = listUnits(t.Context(), systemd, []string{"a.service"}) // which of the answers fits is up to chance
			systemd.Close()
		}
	})
}

// playedBus returns recorded data in parts that are read one by one.
type playedBus struct {
	parts [][]byte
}

func (c *playedBus) Read(b []byte) (int, error) {
	for len(c.parts) > 0 && len(c.parts[0]) == 0 {
		c.parts = c.parts[1:]
	}
	if len(c.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.parts[0])
	c.parts[0] = c.parts[0][n:]
	return n, nil
}

func (c *playedBus) Write(b []byte) (int, error) { return len(b), nil }
func (c *playedBus) Close() error                { return nil }

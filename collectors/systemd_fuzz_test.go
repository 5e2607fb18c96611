package collectors

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/godbus/dbus/v5"
)

// The library reads what the bus sends in a goroutine of its own, where a panic would end
// the program. Whatever comes after the login, a round ends.
func FuzzSystemdAnswers(f *testing.F) {
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
	f.Add(reply(dbus.TypeMethodReply, dbus.FieldSender, ":1.1", []unitStatus{{Name: "a.service", Path: "/a", JobPath: "/"}}))
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
		conn := &playedBus{parts: [][]byte{[]byte("REJECTED EXTERNAL\r\n"), []byte("OK 00\r\n"), answers}}
		bus, err := dbus.NewConn(conn)
		if err != nil {
			t.Fatal(err)
		}
		defer bus.Close()
		if err := login(bus); err == nil {
			_, _ = listUnits(t.Context(), bus, []string{"a.service"}) // which of the answers fits is up to chance
		}
	})
}

// playedBus says all that it has to say, in parts that are read one by one.
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

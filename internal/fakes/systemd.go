package fakes

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

// Silence is the name for Systemd.Fault that leaves calls without an answer.
const Silence = "silence"

// SystemdUnit is a unit of Systemd.
type SystemdUnit struct {
	Load, Active string
	// Properties are by interface and name, as in "Service.NRestarts".
	Properties map[string]any
}

// Systemd imitates a D-Bus daemon with systemd, for clients that read the states of
// units. Its methods are safe for concurrent use.
type Systemd struct {
	listener net.Listener
	wait     sync.WaitGroup

	mu     sync.Mutex // guards what follows
	conns  map[net.Conn]bool
	units  map[string]SystemdUnit
	errors map[string]string // by member
}

// StartSystemd listens on a Unix socket until Close. Units are by name.
func StartSystemd(socket string, units map[string]SystemdUnit) (*Systemd, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("start fake systemd: %w", err)
	}
	s := &Systemd{listener: listener, conns: map[net.Conn]bool{}, units: maps.Clone(units), errors: map[string]string{}}
	s.wait.Go(s.accept)
	return s, nil
}

// Close closes all connections and waits for the goroutines.
func (s *Systemd) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
	return err
}

// Fault makes calls of a member, such as ListUnitsByNames, Get or Hello, fail with an
// error of this name, or stay without an answer for Silence. The empty name ends the fault.
func (s *Systemd) Fault(member, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors[member] = name
}

func (s *Systemd) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		s.wait.Go(func() {
			s.serve(conn)
			_ = conn.Close()
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
		})
	}
}

// serve accepts any login and then answers calls, one after another.
// Source of the protocol: https://dbus.freedesktop.org/doc/dbus-specification.html
func (s *Systemd) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for line := ""; line != "BEGIN\r\n"; {
		var err error
		if line, err = in.ReadString('\n'); err != nil {
			return
		}
		switch strings.Trim(line, "\x00\r\n") {
		case "BEGIN":
		case "AUTH EXTERNAL":
			_, err = conn.Write([]byte("OK 0123456789abcdef0123456789abcdef\r\n"))
		default:
			_, err = conn.Write([]byte("REJECTED EXTERNAL\r\n"))
		}
		if err != nil {
			return
		}
	}
	for {
		call, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		if reply := s.answer(call); reply != nil && reply.EncodeTo(conn, binary.LittleEndian) != nil {
			return
		}
	}
}

// answer returns the reply to a call, or nil for none.
func (s *Systemd) answer(call *dbus.Message) *dbus.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	member, _ := call.Headers[dbus.FieldMember].Value().(string)
	name := s.errors[member]
	var body any
	if name == "" {
		body, name = s.resultLocked(member, call)
	}
	reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(call.Serial()),
	}}
	switch name {
	case Silence:
		return nil
	case "":
	default:
		reply.Type = dbus.TypeError
		reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant(name)
		body = "injected fault " + name
	}
	if body != nil {
		reply.Body = []any{body}
		reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body))
	}
	return reply
}

// unitStatus is a unit in ListUnitsByNames' reply, org.freedesktop.systemd1(5).
type unitStatus struct {
	Name, Description, Load, Active, Sub, Following string
	Path                                            dbus.ObjectPath
	Job                                             uint32
	JobType                                         string
	JobPath                                         dbus.ObjectPath
}

// resultLocked is the result of a call, or the name of an error.
func (s *Systemd) resultLocked(member string, call *dbus.Message) (result any, name string) {
	const errors = "org.freedesktop.DBus.Error."
	switch member {
	case "Hello":
		return ":1.1", ""
	case "AddMatch":
		return nil, ""
	case "ListUnitsByNames":
		var names []string
		if dbus.Store(call.Body, &names) != nil {
			return nil, errors + "InvalidArgs"
		}
		list := []unitStatus{}
		for _, n := range names {
			u, ok := s.units[n]
			if !ok {
				u = SystemdUnit{Load: "not-found", Active: "inactive"}
			}
			list = append(list, unitStatus{Name: n, Load: u.Load, Active: u.Active, Path: unitPath(n), JobPath: "/"})
		}
		return list, ""
	case "Get":
		var kind, property string
		if dbus.Store(call.Body, &kind, &property) != nil {
			return nil, errors + "InvalidArgs"
		}
		for n, u := range s.units {
			if unitPath(n) == call.Headers[dbus.FieldPath].Value() {
				value, ok := u.Properties[strings.TrimPrefix(kind, "org.freedesktop.systemd1.")+"."+property]
				if !ok {
					return nil, errors + "UnknownProperty"
				}
				return dbus.MakeVariant(value), ""
			}
		}
		return nil, errors + "UnknownObject"
	}
	return nil, errors + "UnknownMethod"
}

// unitPath is the path of a unit: what is no letter or digit is written as its code.
func unitPath(unit string) dbus.ObjectPath {
	var b strings.Builder
	b.WriteString("/org/freedesktop/systemd1/unit/")
	for i, c := range []byte(unit) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if letter || i > 0 && c >= '0' && c <= '9' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return dbus.ObjectPath(b.String())
}

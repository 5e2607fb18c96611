package netlink

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	vishvananda "github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// readLink lists what parseNetlinkLink finds.
func readLink(data []byte) (string, error) {
	var found []string
	err := parseNetlinkLink(data, func(name []byte, alternative bool, flags uint32) {
		what := "name"
		if alternative {
			what = "altname"
		}
		found = append(found, fmt.Sprintf("%s %q %#x", what, name, flags))
	})
	return strings.Join(found, ", "), err
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseNetlinkLink(t *testing.T) {
	lo := fakeLink{name: "lo", flags: linkWorks}.encode()
	attributes := func(b ...[]byte) []byte {
		return slices.Concat(append([][]byte{make([]byte, unix.SizeofIfInfomsg)}, b...)...)
	}
	attribute := func(kind uint16, data ...byte) []byte { return appendAttribute(nil, kind, data) }
	cut := func(b []byte, length uint16) []byte {
		b = slices.Clone(b)
		binary.NativeEndian.PutUint16(b, length)
		return b
	}
	name := attribute(unix.IFLA_IFNAME, 'x', 0)
	tests := []struct {
		name string
		data []byte
		want string
		err  string
	}{
		{"a link", lo, `name "lo" 0x10041`, ""},
		{"alternative names", fakeLink{name: "a", altnames: []string{"b", "c"}}.encode(), `name "a" 0x0, altname "b" 0x0, altname "c" 0x0`, ""},
		{"nothing but a name", attributes(name), `name "x" 0x0`, ""},
		{"a name without an end", attributes(attribute(unix.IFLA_IFNAME, 'x')), `name "x" 0x0`, ""},
		{"an empty name", attributes(attribute(unix.IFLA_IFNAME)), `name "" 0x0`, ""},
		{"bytes behind the end of the name", attributes(attribute(unix.IFLA_IFNAME, 'x', 0, 'y', 0)), `name "x" 0x0`, ""},
		{"a name with flags of the attribute", attributes(attribute(unix.IFLA_IFNAME|unix.NLA_F_NET_BYTEORDER, 'x', 0)), `name "x" 0x0`, ""},
		{"no padding behind the last attribute", attributes(name)[:unix.SizeofIfInfomsg+6], `name "x" 0x0`, ""},
		{"other properties", attributes(name, attribute(unix.IFLA_PROP_LIST|unix.NLA_F_NESTED, attribute(999, 'y', 0)...)), `name "x" 0x0`, ""},
		{"nothing", nil, "", "a link of 0 bytes: expected at least 16"},
		{"half a header", lo[:15], "", "a link of 15 bytes: expected at least 16"},
		{"no attributes", lo[:16], "", "a link without a name"},
		{"alternative names only", attributes(attribute(unix.IFLA_PROP_LIST, attribute(unix.IFLA_ALT_IFNAME, 'y', 0)...)), `altname "y" 0x0`, "a link without a name"},
		{"half an attribute's header", attributes(name, []byte{8, 0}), `name "x" 0x0`, "2 bytes where an attribute of at least 4 is expected"},
		{"an attribute that is too long", attributes(name, cut(attribute(1, 0, 0, 0, 0), 9)), `name "x" 0x0`, "an attribute of 9 bytes in 8"},
		{"an attribute that is too short", attributes(name, cut(attribute(1), 3)), `name "x" 0x0`, "an attribute of 3 bytes in 4"},
		{"an attribute without length", attributes(name, cut(attribute(1), 0)), `name "x" 0x0`, "an attribute of 0 bytes in 4"},
		{"properties that make no sense", attributes(name, attribute(unix.IFLA_PROP_LIST, 1, 2, 3)), `name "x" 0x0`, "3 bytes where an attribute of at least 4 is expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readLink(tt.data)
			if got != tt.want || errorText(err) != tt.err {
				t.Errorf("parseNetlinkLink() = %s, %v, want %s, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

// Messages begin at multiples of four bytes; behind the last there may be no padding.
func TestCutMessage(t *testing.T) {
	request := message{sequence: 1}
	odd := fakeMessage(request, unix.NLMSG_DONE, 0, []byte{1, 2, 3, 4, 5})
	second := fakeMessage(request, unix.NLMSG_NOOP, 0, nil)
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"one", odd, "3 [1 2 3 4 5]"},
		{"no padding", odd[:unix.SizeofNlMsghdr+5], "3 [1 2 3 4 5]"},
		{"two", slices.Concat(odd, second), "3 [1 2 3 4 5], 1 []"},
		{"half of the second", slices.Concat(odd, second[:8]), "3 [1 2 3 4 5], 8 bytes where a message of at least 16 is expected"},
		{"nothing", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for m, err := range messages(tt.data) {
				if err != nil {
					got = append(got, err.Error())
				} else {
					got = append(got, fmt.Sprint(m.kind, " ", m.data))
				}
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("messages = %s, want %s", got, tt.want)
			}
		})
	}
}

// The requests are, byte for byte, those of a library that many programs use.
func TestRequests(t *testing.T) {
	library := func(kind, flags int, attributes ...nl.NetlinkRequestData) []byte {
		r := nl.NewNetlinkRequest(kind, flags)
		r.Seq = 7
		r.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
		for _, a := range attributes {
			r.AddData(a)
		}
		return r.Serialize()
	}
	nested := func(kind int, inside ...*nl.RtAttr) *nl.RtAttr {
		a := nl.NewRtAttr(kind|unix.NLA_F_NESTED, nil)
		for _, i := range inside {
			a.AddChild(i)
		}
		return a
	}
	name := nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated("vitals-00000001"))
	peer := nl.NewRtAttr(nl.VETH_INFO_PEER|unix.NLA_F_NESTED, nil)
	nl.NewIfInfomsgChild(peer, unix.AF_UNSPEC)
	peer.AddRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated("vitals-00000002"))
	const create = unix.NLM_F_CREATE | unix.NLM_F_EXCL | unix.NLM_F_ACK
	kind := func(name string) *nl.RtAttr { return nl.NewRtAttr(nl.IFLA_INFO_KIND, nl.NonZeroTerminated(name)) }
	tests := []struct {
		name      string
		got, want []byte
	}{
		{"list", listLinks(7), library(unix.RTM_GETLINK, unix.NLM_F_DUMP, nl.NewRtAttr(unix.IFLA_EXT_MASK, nl.Uint32Attr(1<<3)))},
		{"bridge", createLink(7, "bridge", "vitals-00000001", "vitals-00000002"), library(unix.RTM_NEWLINK, create, name, nested(unix.IFLA_LINKINFO, kind("bridge")))},
		{"veth", createLink(7, "veth", "vitals-00000001", "vitals-00000002"),
			library(unix.RTM_NEWLINK, create, name, nested(unix.IFLA_LINKINFO, kind("veth"), nested(nl.IFLA_INFO_DATA, peer)))},
		{"delete", deleteLink(7, "vitals-00000001"), library(unix.RTM_DELLINK, unix.NLM_F_ACK, name)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(fmt.Sprintf("%x", tt.want), fmt.Sprintf("%x", tt.got)); diff != "" {
				t.Errorf("request (-library +got):\n%s", diff)
			}
		})
	}
}

// The library finds the same names and flags in this kernel's answer.
func TestAgreesWithTheLibrary(t *testing.T) {
	conn, err := netlinkPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	n := fakeNetlink(t, Config{}, nil)
	compared := 0
	err = n.exchange(ctx, conn, listLinks(0), func(m message) error {
		if m.kind != unix.RTM_NEWLINK {
			return nil
		}
		link, err := vishvananda.LinkDeserialize(&unix.NlMsghdr{Type: m.kind}, m.data)
		if err != nil {
			return err
		}
		want := fmt.Sprintf("name %q %#x", link.Attrs().Name, link.Attrs().RawFlags)
		for _, alternative := range link.Attrs().AltNames {
			want += fmt.Sprintf(", altname %q %#x", alternative, link.Attrs().RawFlags)
		}
		if got, err := readLink(m.data); got != want || err != nil {
			t.Errorf("parseNetlinkLink() = %s, %v, want %s and no error", got, err, want)
		}
		compared++
		return nil
	})
	if err != nil || compared == 0 {
		t.Errorf("exchange() = %v with %d links, want lo at least", err, compared)
	}
}

// Whatever comes: nothing panics, nothing is read twice or from elsewhere, and a
// datagram that the standard library understands is understood in the same way.
func FuzzMessages(f *testing.F) {
	request := message{sequence: 1}
	for _, link := range []fakeLink{{name: "lo", flags: linkWorks}, {name: "eth0", altnames: []string{"uplink", "enp1s0"}}} {
		f.Add(fakeMessage(request, unix.RTM_NEWLINK, unix.NLM_F_MULTI, link.encode()))
	}
	f.Add(slices.Concat(slices.Concat((&fakeKernel{links: manyLinks(3)}).dump(request)...), fakeError(request, unix.EPERM)[0]))
	recorded, err := filepath.Glob(filepath.Join("testdata", "*.bin"))
	if err != nil || len(recorded) == 0 {
		f.Fatalf("Glob() = %v, %v, want recorded answers", recorded, err)
	}
	for _, name := range recorded {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		var got []string
		var failed error
		read := 0
		for m, err := range messages(data) {
			if failed != nil {
				t.Fatalf("a message after the error %v", failed)
			}
			if failed = err; err != nil {
				continue
			}
			read += unix.SizeofNlMsghdr + len(m.data)
			got = append(got, fmt.Sprint(m.kind, m.flags, m.sequence, m.port, m.data))
			if errno, err := m.errno(); err == nil && errno > 4095 {
				t.Errorf("errno() = %d, want at most 4095", errno)
			}
			_ = parseNetlinkLink(m.data, func(name []byte, _ bool, _ uint32) {
				if len(name) > len(m.data) || bytes.IndexByte(name, 0) >= 0 {
					t.Errorf("a name %q in %d bytes", name, len(m.data))
				}
			})
		}
		if read > len(data) || !bytes.Equal(before, data) {
			t.Errorf("read %d of %d bytes, changed: %v", read, len(data), !bytes.Equal(before, data))
		}
		messages, err := syscall.ParseNetlinkMessage(data)
		if err != nil || failed != nil {
			return
		}
		var want []string
		for _, m := range messages {
			want = append(want, fmt.Sprint(m.Header.Type, m.Header.Flags, m.Header.Seq, m.Header.Pid, m.Data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-standard library +got):\n%s", diff)
		}
	})
}

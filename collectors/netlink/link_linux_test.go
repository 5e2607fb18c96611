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
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"
	vishvananda "github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// readLink formats the names that parseLink finds.
func readLink(data []byte) (string, error) {
	var found []string
	err := parseLink(data, func(name []byte, alternative bool, flags uint32) {
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
		{"bytes after the end of the name", attributes(attribute(unix.IFLA_IFNAME, 'x', 0, 'y', 0)), `name "x" 0x0`, ""},
		{"a name with flags of the attribute", attributes(attribute(unix.IFLA_IFNAME|unix.NLA_F_NET_BYTEORDER, 'x', 0)), `name "x" 0x0`, ""},
		{"no padding after the last attribute", attributes(name)[:unix.SizeofIfInfomsg+6], `name "x" 0x0`, ""},
		{"other properties", attributes(name, attribute(unix.IFLA_PROP_LIST|unix.NLA_F_NESTED, attribute(999, 'y', 0)...)), `name "x" 0x0`, ""},
		{"nothing", nil, "", "a link of 0 bytes: expected at least 16"},
		{"half a header", lo[:15], "", "a link of 15 bytes: expected at least 16"},
		{"no attributes", lo[:16], "", "a link without a name"},
		{"alternative names only", attributes(attribute(unix.IFLA_PROP_LIST, attribute(unix.IFLA_ALT_IFNAME, 'y', 0)...)), `altname "y" 0x0`, "a link without a name"},
		{"half the header of an attribute", attributes(name, []byte{8, 0}), `name "x" 0x0`, "2 bytes: expected an attribute of at least 4"},
		{"an attribute that is too long", attributes(name, cut(attribute(1, 0, 0, 0, 0), 9)), `name "x" 0x0`, "an attribute of 9 bytes in 8"},
		{"an attribute that is too short", attributes(name, cut(attribute(1), 3)), `name "x" 0x0`, "an attribute of 3 bytes in 4"},
		{"an attribute without length", attributes(name, cut(attribute(1), 0)), `name "x" 0x0`, "an attribute of 0 bytes in 4"},
		{"invalid properties", attributes(name, attribute(unix.IFLA_PROP_LIST, 1, 2, 3)), `name "x" 0x0`, "3 bytes: expected an attribute of at least 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readLink(tt.data)
			if got != tt.want || errorText(err) != tt.err {
				t.Errorf("parseLink() = %s, %v, want %s, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

// The requests are, byte for byte, those of vishvananda/netlink.
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
		name string
		got  netlink.Message
		want []byte
	}{
		{"list", listLinks(), library(unix.RTM_GETLINK, unix.NLM_F_DUMP, nl.NewRtAttr(unix.IFLA_EXT_MASK, nl.Uint32Attr(1<<3)))},
		{"bridge", createLink("bridge", "vitals-00000001", "vitals-00000002"), library(unix.RTM_NEWLINK, create, name, nested(unix.IFLA_LINKINFO, kind("bridge")))},
		{"veth", createLink("veth", "vitals-00000001", "vitals-00000002"),
			library(unix.RTM_NEWLINK, create, name, nested(unix.IFLA_LINKINFO, kind("veth"), nested(nl.IFLA_INFO_DATA, peer)))},
		{"delete", deleteLink("vitals-00000001"), library(unix.RTM_DELLINK, unix.NLM_F_ACK, name)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.got.Header.Sequence, tt.got.Header.Length = 7, uint32(unix.SizeofNlMsghdr+len(tt.got.Data))
			got, err := tt.got.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fmt.Sprintf("%x", tt.want), fmt.Sprintf("%x", got)); diff != "" {
				t.Errorf("request (-library +got):\n%s", diff)
			}
		})
	}
}

// vishvananda/netlink finds the same names and flags in the answer of this kernel.
func TestAgreesWithTheLibrary(t *testing.T) {
	conn, err := netnsPath("").open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	compared := 0
	err = conn.exchange(ctx, listLinks(), func(m netlink.Message) error {
		link, err := vishvananda.LinkDeserialize(&unix.NlMsghdr{Type: uint16(m.Header.Type)}, m.Data)
		if err != nil {
			return err
		}
		want := fmt.Sprintf("name %q %#x", link.Attrs().Name, link.Attrs().RawFlags)
		for _, alternative := range link.Attrs().AltNames {
			want += fmt.Sprintf(", altname %q %#x", alternative, link.Attrs().RawFlags)
		}
		if got, err := readLink(m.Data); got != want || err != nil {
			t.Errorf("parseLink() = %s, %v, want %s and no error", got, err, want)
		}
		compared++
		return nil
	})
	if err != nil || compared == 0 {
		t.Errorf("exchange() = %v with %d links, want lo at least", err, compared)
	}
}

// For any input: no panic, no name from outside the input, and the names that the
// decoder of the library finds.
func FuzzParseLink(f *testing.F) {
	for _, link := range []fakeLink{{name: "lo", flags: linkWorks}, {name: "eth0", altnames: []string{"uplink", "enp1s0"}}} {
		f.Add(link.encode())
	}
	recorded, err := os.ReadFile(filepath.Join("testdata", "links.bin"))
	if err != nil {
		f.Fatal(err)
	}
	for m, err := range messages(recorded) {
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		var got []string
		err := parseLink(data, func(name []byte, alternative bool, _ uint32) {
			if len(name) > len(data) || bytes.IndexByte(name, 0) >= 0 {
				t.Errorf("a name %q in %d bytes", name, len(data))
			}
			if !alternative {
				got = append(got, string(name))
			}
		})
		if !bytes.Equal(before, data) {
			t.Error("the input was changed")
		}
		if err != nil {
			return
		}
		decoder, err := netlink.NewAttributeDecoder(data[unix.SizeofIfInfomsg:])
		if err != nil {
			t.Fatalf("parseLink() = nil, the library: %v", err)
		}
		var want []string
		for decoder.Next() {
			if decoder.Type() == unix.IFLA_IFNAME {
				name, _, _ := bytes.Cut(decoder.Bytes(), []byte{0})
				want = append(want, string(name))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || decoder.Err() != nil {
			t.Errorf("names (-library +got):\n%s, %v", diff, decoder.Err())
		}
	})
}

package netlink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	// typeMask is NLA_TYPE_MASK in linux/netlink.h: the rest of an attribute's
	// type is flags.
	typeMask = ^uint16(unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER)
	// skipStats is RTEXT_FILTER_SKIP_STATS in linux/rtnetlink.h.
	skipStats = 1 << 3
	// netlinkPeer is VETH_INFO_PEER in linux/veth.h.
	netlinkPeer = 1
)

// message is one message of a datagram: nlmsghdr in netlink(7). Its data lie in
// the datagram.
type message struct {
	kind, flags uint16
	sequence    uint32
	port        uint32
	data        []byte
}

// cutMessage returns the first message of a datagram and what is behind it.
func cutMessage(datagram []byte) (m message, rest []byte, err error) {
	if len(datagram) < unix.SizeofNlMsghdr {
		return m, nil, fmt.Errorf("%d bytes where a message of at least %d is expected", len(datagram), unix.SizeofNlMsghdr)
	}
	length := binary.NativeEndian.Uint32(datagram)
	if length < unix.SizeofNlMsghdr || uint64(length) > uint64(len(datagram)) {
		return m, nil, fmt.Errorf("a message of %d bytes in %d", length, len(datagram))
	}
	m = message{
		kind:     binary.NativeEndian.Uint16(datagram[4:]),
		flags:    binary.NativeEndian.Uint16(datagram[6:]),
		sequence: binary.NativeEndian.Uint32(datagram[8:]),
		port:     binary.NativeEndian.Uint32(datagram[12:]),
		data:     datagram[unix.SizeofNlMsghdr:length],
	}
	return m, datagram[min(aligned(int(length)), len(datagram)):], nil
}

// errno is the error in a message of the types NLMSG_ERROR and NLMSG_DONE; 0 is none.
// A message NLMSG_DONE may have no data.
func (m message) errno() (unix.Errno, error) {
	if len(m.data) < 4 {
		if m.kind == unix.NLMSG_DONE {
			return 0, nil
		}
		return 0, fmt.Errorf("an error of %d bytes", len(m.data))
	}
	code := int32(binary.NativeEndian.Uint32(m.data))
	if code > 0 || code < -4095 { // MAX_ERRNO in linux/err.h
		return 0, fmt.Errorf("error %d: expected -4095 to 0", code)
	}
	return unix.Errno(-code), nil
}

// cutAttribute returns the first of some attributes and what is behind it: rtattr in
// rtnetlink(7).
func cutAttribute(attributes []byte) (kind uint16, data, rest []byte, err error) {
	if len(attributes) < unix.SizeofRtAttr {
		return 0, nil, nil, fmt.Errorf("%d bytes where an attribute of at least %d is expected", len(attributes), unix.SizeofRtAttr)
	}
	length := int(binary.NativeEndian.Uint16(attributes))
	if length < unix.SizeofRtAttr || length > len(attributes) {
		return 0, nil, nil, fmt.Errorf("an attribute of %d bytes in %d", length, len(attributes))
	}
	kind = binary.NativeEndian.Uint16(attributes[2:]) & typeMask
	return kind, attributes[unix.SizeofRtAttr:length], attributes[min(aligned(length), len(attributes)):], nil
}

// parseNetlinkLink reads a message RTM_NEWLINK. It calls seen with the link's name and
// then with each of its alternative names; the bytes lie in data. The flags are those
// of netdevice(7), with IFF_LOWER_UP and more in the upper half.
func parseNetlinkLink(data []byte, seen func(name []byte, alternative bool, flags uint32)) error {
	if len(data) < unix.SizeofIfInfomsg {
		return fmt.Errorf("a link of %d bytes: expected at least %d", len(data), unix.SizeofIfInfomsg)
	}
	flags := binary.NativeEndian.Uint32(data[8:])
	named := false
	for rest := data[unix.SizeofIfInfomsg:]; len(rest) > 0; {
		kind, value, behind, err := cutAttribute(rest)
		switch {
		case err != nil:
			return err
		case kind == unix.IFLA_IFNAME:
			named = true
			seen(terminated(value), false, flags)
		case kind == unix.IFLA_PROP_LIST:
			if err := alternativeNames(value, func(name []byte) { seen(name, true, flags) }); err != nil {
				return err
			}
		}
		rest = behind
	}
	if !named {
		return errors.New("a link without a name")
	}
	return nil
}

// alternativeNames reads the properties of a link.
func alternativeNames(properties []byte, seen func(name []byte)) error {
	for len(properties) > 0 {
		kind, value, behind, err := cutAttribute(properties)
		if err != nil {
			return err
		}
		if kind == unix.IFLA_ALT_IFNAME {
			seen(terminated(value))
		}
		properties = behind
	}
	return nil
}

// terminated is a string without its final NUL.
func terminated(data []byte) []byte {
	before, _, _ := bytes.Cut(data, []byte{0})
	return before
}

// listLinks asks for all links, without the counters, which nobody reads here and which
// are more than half of the answer.
func listLinks(sequence uint32) []byte {
	mask := binary.NativeEndian.AppendUint32(nil, skipStats)
	return linkRequest(unix.RTM_GETLINK, unix.NLM_F_DUMP, sequence, appendAttribute(nil, unix.IFLA_EXT_MASK, mask))
}

// createLink asks for a new link of a type (see ip-link(8)), which stays down. A veth
// has a peer.
func createLink(sequence uint32, kind, name, peer string) []byte {
	info := appendAttribute(nil, unix.IFLA_INFO_KIND, []byte(kind))
	if kind == veth {
		end := appendAttribute(make([]byte, unix.SizeofIfInfomsg), unix.IFLA_IFNAME, cString(peer))
		info = appendAttribute(info, unix.IFLA_INFO_DATA|unix.NLA_F_NESTED, appendAttribute(nil, netlinkPeer|unix.NLA_F_NESTED, end))
	}
	attributes := appendAttribute(nil, unix.IFLA_IFNAME, cString(name))
	attributes = appendAttribute(attributes, unix.IFLA_LINKINFO|unix.NLA_F_NESTED, info)
	return linkRequest(unix.RTM_NEWLINK, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL, sequence, attributes)
}

// deleteLink asks to delete the link of a name.
func deleteLink(sequence uint32, name string) []byte {
	return linkRequest(unix.RTM_DELLINK, unix.NLM_F_ACK, sequence, appendAttribute(nil, unix.IFLA_IFNAME, cString(name)))
}

// linkRequest is a message about links: nlmsghdr and an ifinfomsg that names none.
func linkRequest(kind, flags uint16, sequence uint32, attributes []byte) []byte {
	length := unix.SizeofNlMsghdr + unix.SizeofIfInfomsg + len(attributes)
	b := make([]byte, 0, length)
	b = binary.NativeEndian.AppendUint32(b, uint32(length))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST|flags)
	b = binary.NativeEndian.AppendUint32(b, sequence)
	b = append(b, make([]byte, 4+unix.SizeofIfInfomsg)...) // the port: the kernel knows it
	return append(b, attributes...)
}

func appendAttribute(b []byte, kind uint16, data []byte) []byte {
	length := unix.SizeofRtAttr + len(data)
	b = binary.NativeEndian.AppendUint16(b, uint16(length))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, data...)
	return append(b, make([]byte, aligned(length)-length)...)
}

func cString(s string) []byte { return append([]byte(s), 0) }

// aligned is a length with the padding behind it: NLMSG_ALIGN and RTA_ALIGN.
func aligned(length int) int { return (length + 3) &^ 3 }

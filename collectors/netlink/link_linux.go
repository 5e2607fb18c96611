package netlink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const (
	// attributeType is NLA_TYPE_MASK in linux/netlink.h: the other bits are flags.
	attributeType = ^(netlink.Nested | netlink.NetByteOrder)
	// skipStats is RTEXT_FILTER_SKIP_STATS in linux/rtnetlink.h.
	skipStats = 1 << 3
	// vethPeer is VETH_INFO_PEER in linux/veth.h.
	vethPeer = 1
)

// cutAttribute returns the first attribute (rtattr in rtnetlink(7)) and the bytes after
// it. netlink.AttributeDecoder copies every attribute: for a list of links that costs
// more processor time than everything else here.
func cutAttribute(attributes []byte) (kind uint16, data, rest []byte, err error) {
	if len(attributes) < unix.SizeofRtAttr {
		return 0, nil, nil, fmt.Errorf("%d bytes: expected an attribute of at least %d", len(attributes), unix.SizeofRtAttr)
	}
	length := int(binary.NativeEndian.Uint16(attributes))
	if length < unix.SizeofRtAttr || length > len(attributes) {
		return 0, nil, nil, fmt.Errorf("an attribute of %d bytes in %d", length, len(attributes))
	}
	kind = binary.NativeEndian.Uint16(attributes[2:]) & attributeType
	padded := (length + unix.RTA_ALIGNTO - 1) &^ (unix.RTA_ALIGNTO - 1)
	return kind, attributes[unix.SizeofRtAttr:length], attributes[min(padded, len(attributes)):], nil
}

// parseLink parses the data of a message RTM_NEWLINK. It calls found with the name of
// the link and with each alternative name; the name is a part of data. The flags are
// those of netdevice(7), with IFF_LOWER_UP and others in the upper half.
func parseLink(data []byte, found func(name []byte, alternative bool, flags uint32)) error {
	if len(data) < unix.SizeofIfInfomsg {
		return fmt.Errorf("a link of %d bytes: expected at least %d", len(data), unix.SizeofIfInfomsg)
	}
	flags := binary.NativeEndian.Uint32(data[8:])
	named := false
	for rest := data[unix.SizeofIfInfomsg:]; len(rest) > 0; {
		kind, value, after, err := cutAttribute(rest)
		switch {
		case err != nil:
			return err
		case kind == unix.IFLA_IFNAME:
			named = true
			found(beforeNUL(value), false, flags)
		case kind == unix.IFLA_PROP_LIST:
			if err := alternativeNames(value, func(name []byte) { found(name, true, flags) }); err != nil {
				return err
			}
		}
		rest = after
	}
	if !named {
		return errors.New("a link without a name")
	}
	return nil
}

// alternativeNames parses the property list of a link.
func alternativeNames(properties []byte, found func(name []byte)) error {
	for len(properties) > 0 {
		kind, value, after, err := cutAttribute(properties)
		if err != nil {
			return err
		}
		if kind == unix.IFLA_ALT_IFNAME {
			found(beforeNUL(value))
		}
		properties = after
	}
	return nil
}

func beforeNUL(data []byte) []byte {
	before, _, _ := bytes.Cut(data, []byte{0})
	return before
}

// listLinks is the request for all links without their counters, which are more than
// half of the answer.
func listLinks() netlink.Message {
	return linkRequest(unix.RTM_GETLINK, netlink.Dump, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(unix.IFLA_EXT_MASK, skipStats)
	})
}

// createLink is the request for a new link of a type (see ip-link(8)), which stays down.
// A veth has a peer.
func createLink(kind, name, peer string) netlink.Message {
	return linkRequest(unix.RTM_NEWLINK, netlink.Acknowledge|netlink.Create|netlink.Excl, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.IFLA_IFNAME, name)
		ae.Nested(unix.IFLA_LINKINFO, func(info *netlink.AttributeEncoder) error {
			info.Bytes(unix.IFLA_INFO_KIND, []byte(kind))
			if kind == veth {
				info.Nested(unix.IFLA_INFO_DATA, func(data *netlink.AttributeEncoder) error {
					data.Bytes(vethPeer|netlink.Nested, linkData(func(end *netlink.AttributeEncoder) { end.String(unix.IFLA_IFNAME, peer) }))
					return nil
				})
			}
			return nil
		})
	})
}

// deleteLink is the request to delete the link with this name.
func deleteLink(name string) netlink.Message {
	return linkRequest(unix.RTM_DELLINK, netlink.Acknowledge, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.IFLA_IFNAME, name)
	})
}

func linkRequest(kind netlink.HeaderType, flags netlink.HeaderFlags, attributes func(*netlink.AttributeEncoder)) netlink.Message {
	return netlink.Message{
		Header: netlink.Header{Type: kind, Flags: netlink.Request | flags},
		Data:   linkData(attributes),
	}
}

// linkData is an ifinfomsg that selects no link, and attributes.
func linkData(attributes func(*netlink.AttributeEncoder)) []byte {
	ae := netlink.NewAttributeEncoder()
	attributes(ae)
	encoded, err := ae.Encode()
	if err != nil { // only for an attribute of 64 KiB or more
		panic(err)
	}
	return append(make([]byte, unix.SizeofIfInfomsg), encoded...)
}

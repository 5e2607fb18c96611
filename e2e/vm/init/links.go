//go:build e2e

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addLinks makes links of a type, with names that begin with prefix, or one that is
// called like that. They stay down.
func addLinks(kind, prefix string, n int) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	info := attribute(unix.IFLA_LINKINFO, attribute(unix.IFLA_INFO_KIND, []byte(kind)))
	for i := range n {
		name := prefix
		if n > 1 {
			name += strconv.Itoa(i)
		}
		request := append(attribute(unix.IFLA_IFNAME, append([]byte(name), 0)), info...)
		if err := exchange(fd, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, request); err != nil {
			return fmt.Errorf("make link %s of type %s: %w", name, kind, err)
		}
	}
	return nil
}

// changeLink changes a link, or makes it come and go.
func changeLink(name, how string) error {
	switch how {
	case "up", "down":
		return setLink(name, how == "up")
	case "delete":
		return deleteLink(name)
	case "churn":
		return churn(name)
	}
	return fmt.Errorf("link %s %s: expected up, down, delete or churn", name, how)
}

// deleteLink deletes the link of a name.
func deleteLink(name string) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	return exchange(fd, unix.RTM_DELLINK, 0, attribute(unix.IFLA_IFNAME, append([]byte(name), 0)))
}

// churn makes a link and deletes it, until a signal ends the process.
func churn(name string) error {
	fmt.Println("waiting")
	for {
		if err := addLinks("dummy", name, 1); err != nil {
			return err
		}
		if err := deleteLink(name); err != nil {
			return err
		}
	}
}

// attribute is one of rtnetlink(7), padded to four bytes.
func attribute(kind uint16, data []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(data)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), data...)
	return append(b, make([]byte, (4-len(b)%4)%4)...)
}

// exchange sends a request about links and waits for the kernel's acknowledgement, see
// netlink(7): a header, and a number that is 0 or an errno less than 0.
func exchange(fd int, kind, flags uint16, attributes []byte) error {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+unix.SizeofIfInfomsg+len(attributes)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags|unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	b = append(b, make([]byte, unix.SizeofNlMsghdr-8+unix.SizeofIfInfomsg)...)
	if err := unix.Sendto(fd, append(b, attributes...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	answer := make([]byte, os.Getpagesize())
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return os.NewSyscallError("recvfrom", err)
	}
	if n < unix.SizeofNlMsghdr+4 {
		return fmt.Errorf("an answer of %d bytes", n)
	}
	if errno := -int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); errno != 0 {
		return unix.Errno(errno)
	}
	return nil
}

// setLink sets a link administratively up or down.
func setLink(name string, up bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	// struct ifreq of netdevice(7), with its member ifr_flags.
	var request struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], name)
	if up {
		request.flags = unix.IFF_UP
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("set link %s up (%t): %w", name, up, errno)
	}
	runtime.KeepAlive(&request)
	return nil
}

// netns makes a network namespace that lives as long as its file is mounted.
func netns(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return nil
}

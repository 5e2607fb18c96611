package netlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"golang.org/x/sys/unix"
)

const (
	// netlinkDatagram is the longest datagram that the kernel sends for a list, in bytes:
	// netlink_recvmsg in net/netlink/af_netlink.c. It sends longer ones only for a link
	// that alone needs more.
	netlinkDatagram = 32 << 10
	// tries is how often a list that changed meanwhile is asked for.
	tries = 10
	// leftovers is how many links of earlier write tests are deleted in one round.
	leftovers = 16

	up      = unix.IFF_UP
	running = unix.IFF_RUNNING
)

// conn is a socket to the part of the kernel that has the links.
type conn interface {
	// namespace says in which network namespace the socket is.
	namespace() netnsID
	// port is the socket's own address.
	port() uint32
	send(ctx context.Context, message []byte) error
	// receive waits for a datagram. The length is that of the whole datagram, of which
	// buf got the beginning. The kernel's port is 0.
	receive(ctx context.Context, buf []byte) (length int, from uint32, err error)
	Close() error
}

// netlinkLinks is what a list says of the links.
type netlinkLinks struct {
	count int
	// flags are those of the links that are looked for.
	flags map[string]uint32
	// leftovers are the names of links that an earlier write test has not deleted.
	leftovers []string
	// took is how long it took to get the list.
	took time.Duration
}

// list lists the links.
func (n *collector) list(ctx context.Context) (netlinkLinks, error) {
	var links netlinkLinks
	begin := time.Now()
	err := n.use(func(conn conn) (err error) {
		links, err = n.listUnchanged(ctx, conn)
		return err
	})
	if err != nil {
		return netlinkLinks{}, fmt.Errorf("list links: %w", err)
	}
	links.took = time.Since(begin)
	return links, nil
}

// listUnchanged asks again while the links change under the kernel's hands.
func (n *collector) listUnchanged(ctx context.Context, conn conn) (netlinkLinks, error) {
	var interrupted error
	for range tries {
		links, err := n.listOnce(ctx, conn)
		switch reasonOfNetlink(err) {
		case netlinkInterrupted:
			interrupted = err
		case timeout:
			return links, cmp.Or(interrupted, err)
		default:
			return links, err
		}
	}
	return netlinkLinks{}, interrupted
}

func (n *collector) listOnce(ctx context.Context, conn conn) (netlinkLinks, error) {
	links := netlinkLinks{flags: make(map[string]uint32, len(n.config.Interfaces))}
	wanted := make(map[string]bool, len(n.config.Interfaces))
	for _, name := range n.config.Interfaces {
		wanted[name] = true
	}
	testing := n.config.writes()
	seen := func(name []byte, alternative bool, flags uint32) {
		if wanted[string(name)] {
			links.flags[string(name)] = flags
		}
		if testing && !alternative && isTestLink(name) && len(links.leftovers) < leftovers {
			links.leftovers = append(links.leftovers, string(name))
		}
	}
	var changed bool
	n.sequence++
	err := n.exchange(ctx, conn, listLinks(n.sequence), func(m message) error {
		changed = changed || m.flags&unix.NLM_F_DUMP_INTR != 0
		switch m.kind {
		case unix.RTM_NEWLINK:
			links.count++
			return parseNetlinkLink(m.data, seen)
		case unix.NLMSG_DONE:
			return nil
		}
		return fmt.Errorf("a message of the type %d in a list of links", m.kind)
	})
	if err == nil && changed {
		err = &collectors.Error[reason]{Reason: netlinkInterrupted, Err: errors.New("the links changed meanwhile")}
	}
	return links, err
}

// exchange sends a request with the sequence number of n, calls each with the messages
// of the answer, unless they say an error, and returns after the last.
func (n *collector) exchange(ctx context.Context, conn conn, request []byte, each func(message) error) error {
	if err := conn.send(ctx, request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	for {
		length, from, err := conn.receive(ctx, n.buffer)
		switch {
		case err != nil:
			return fmt.Errorf("receive: %w", err)
		case from != 0: // another process' message is no answer
			continue
		case length > len(n.buffer):
			return fmt.Errorf("a datagram of %d bytes was cut to %d", length, len(n.buffer))
		}
		for rest := n.buffer[:length]; len(rest) > 0; {
			m, behind, err := cutMessage(rest)
			if err == nil {
				err = n.check(m, conn.port())
			}
			if err == nil && m.kind != unix.NLMSG_NOOP {
				err = each(m)
			}
			if err != nil || m.kind == unix.NLMSG_DONE || m.kind == unix.NLMSG_ERROR {
				return err
			}
			rest = behind
		}
	}
}

// check returns the error that a message says, or why it is none of the answer's.
func (n *collector) check(m message, port uint32) error {
	switch {
	case m.kind == unix.NLMSG_OVERRUN:
		return unix.ENOBUFS
	case m.sequence != n.sequence:
		return fmt.Errorf("an answer to request %d: expected one to %d", m.sequence, n.sequence)
	case m.port != port:
		return fmt.Errorf("an answer to port %d: expected one to %d", m.port, port)
	case m.kind != unix.NLMSG_ERROR && m.kind != unix.NLMSG_DONE:
		return nil
	}
	errno, err := m.errno()
	if err == nil && errno != 0 {
		err = errno
	}
	return err
}

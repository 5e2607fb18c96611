package collectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// testLinkPrefix and eight hexadecimal digits are the name of a link that a write
	// test made: the 15 bytes that a name may have.
	testLinkPrefix = "vitals-"
	testLinkDigits = 8
	// writeGrace is how long a link is still deleted after the deadline.
	writeGrace = time.Second
)

func testLinkName() string { return fmt.Sprintf("%s%08x", testLinkPrefix, rand.Uint32()) }

func isTestLink(name []byte) bool {
	digits, ok := bytes.CutPrefix(name, []byte(testLinkPrefix))
	if !ok || len(digits) != testLinkDigits {
		return false
	}
	return len(bytes.Trim(digits, "0123456789abcdef")) == 0
}

// write deletes what earlier write tests left behind, and makes a link and deletes it.
// It returns how long the latter took.
func (n *netlink) write(ctx context.Context, leftovers []string) (time.Duration, error) {
	for _, name := range leftovers {
		if err := n.remove(ctx, name); err != nil {
			return 0, fmt.Errorf("delete link %s of an earlier round: %w", name, err)
		}
	}
	name, peer := testLinkName(), testLinkName()
	begin := time.Now()
	err := n.use(func(conn netlinkConn) error {
		n.sequence++
		return n.acknowledged(ctx, conn, createLink(n.sequence, n.config.WriteTest, name, peer))
	})
	if err != nil {
		err = fmt.Errorf("make a link of the type %s: %w", n.config.WriteTest, err)
	} else if err = n.remove(ctx, name); err != nil {
		err = fmt.Errorf("delete link %s: %w", name, err)
	} else {
		return time.Since(begin), nil
	}
	// Whatever failed: the link may be there.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeGrace)
	defer cancel()
	_ = n.remove(grace, name) // if not, the next round finds it
	return 0, err
}

// remove deletes a link. One that is gone already is deleted.
func (n *netlink) remove(ctx context.Context, name string) error {
	err := n.use(func(conn netlinkConn) error {
		n.sequence++
		return n.acknowledged(ctx, conn, deleteLink(n.sequence, name))
	})
	if errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// acknowledged sends a request of which the kernel says that it did it, or why not.
func (n *netlink) acknowledged(ctx context.Context, conn netlinkConn, request []byte) error {
	return n.exchange(ctx, conn, request, func(m netlinkMessage) error {
		if m.kind == unix.NLMSG_ERROR {
			return nil
		}
		return fmt.Errorf("a message of the type %d where an acknowledgement is expected", m.kind)
	})
}

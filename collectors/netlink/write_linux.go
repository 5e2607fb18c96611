package netlink

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

// writeTest makes a link and deletes it.
type writeTest struct {
	*collector
	// link is the name of the link.
	link string
	// leftovers are the names of links that earlier tests have not deleted.
	leftovers []string
}

// run deletes what was left behind, and makes the link and deletes it. It returns how
// long the latter took.
func (w writeTest) run(ctx context.Context) (took time.Duration, err error) {
	err = w.use(func(conn conn) error {
		for _, name := range w.leftovers {
			if err := w.remove(ctx, conn, name); err != nil {
				return fmt.Errorf("delete link %s of an earlier round: %w", name, err)
			}
		}
		begin := time.Now()
		w.sequence++
		if err := w.acknowledged(ctx, conn, createLink(w.sequence, w.config.WriteTest, w.link, testLinkName())); err != nil {
			return fmt.Errorf("make a link of the type %s: %w", w.config.WriteTest, err)
		}
		if err := w.remove(ctx, conn, w.link); err != nil {
			return fmt.Errorf("delete link %s: %w", w.link, err)
		}
		took = time.Since(begin)
		return nil
	})
	return took, err
}

// undo deletes the link, which may be there whatever has failed. If it stays, the next
// round finds it.
func (w writeTest) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeGrace)
	defer cancel()
	_ = w.use(func(conn conn) error { return w.remove(ctx, conn, w.link) })
}

// remove deletes a link. One that is gone already is deleted.
func (n *collector) remove(ctx context.Context, conn conn, name string) error {
	n.sequence++
	err := n.acknowledged(ctx, conn, deleteLink(n.sequence, name))
	if errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// acknowledged sends a request of which the kernel says that it did it, or why not.
func (n *collector) acknowledged(ctx context.Context, conn conn, request []byte) error {
	return n.exchange(ctx, conn, request, func(m message) error {
		if m.kind == unix.NLMSG_ERROR {
			return nil
		}
		return fmt.Errorf("a message of the type %d where an acknowledgement is expected", m.kind)
	})
}

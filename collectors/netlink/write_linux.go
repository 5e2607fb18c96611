package netlink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const (
	// testLinkPrefix and eight hexadecimal digits are the name of a link of a write
	// test. A name has at most 15 bytes.
	testLinkPrefix = "vitals-"
	testLinkDigits = 8
	// writeGrace limits the deletion of a link after the deadline.
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

// writeTest creates a link and deletes it.
type writeTest struct {
	*collector
	// link is the name of the link.
	link string
	// leftovers are the names of links that earlier tests have not deleted.
	leftovers []string
}

// run deletes the leftovers, creates the link and deletes it. It returns the duration of
// the last two.
func (w writeTest) run(ctx context.Context) (took time.Duration, err error) {
	err = w.use(func(conn *conn) error {
		for _, name := range w.leftovers {
			if err := conn.remove(ctx, name); err != nil {
				return fmt.Errorf("delete link %s of an earlier collection: %w", name, err)
			}
		}
		begin := time.Now()
		if err := conn.acknowledged(ctx, createLink(w.config.WriteTest, w.link, testLinkName())); err != nil {
			return fmt.Errorf("create a link of the type %s: %w", w.config.WriteTest, err)
		}
		if err := conn.remove(ctx, w.link); err != nil {
			return fmt.Errorf("delete link %s: %w", w.link, err)
		}
		took = time.Since(begin)
		return nil
	})
	return took, err
}

// undo deletes the link, which can exist after any failure of run. The next collection
// deletes a link that remains.
func (w writeTest) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeGrace)
	defer cancel()
	_ = w.use(func(conn *conn) error { return conn.remove(ctx, w.link) })
}

// remove deletes a link. A link that does not exist is no error.
func (c *conn) remove(ctx context.Context, name string) error {
	err := c.acknowledged(ctx, deleteLink(name))
	if errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// acknowledged sends a request and expects one acknowledgement.
func (c *conn) acknowledged(ctx context.Context, request netlink.Message) error {
	acknowledged := false
	err := c.exchange(ctx, request, func(m netlink.Message) error {
		if m.Header.Type != netlink.Error {
			return fmt.Errorf("a message of the type %d: expected an acknowledgement", m.Header.Type)
		}
		acknowledged = true
		return nil
	})
	if err == nil && !acknowledged {
		err = errors.New("an answer without an acknowledgement")
	}
	return err
}

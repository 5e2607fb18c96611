package netlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
)

const (
	// tries is how often a list that was interrupted by a change is requested.
	tries = 10
	// leftovers is how many links of earlier write tests a collection deletes.
	leftovers = 16

	up      = unix.IFF_UP
	running = unix.IFF_RUNNING
)

// links is what a collection needs of a list of the links.
type links struct {
	count int
	// flags has the configured links that exist.
	flags map[string]uint32
	// leftovers are the names of links that an earlier write test has not deleted.
	leftovers []string
	// took is the duration from opening the socket to the end of the list.
	took time.Duration
}

// list lists the links.
func (c *collector) list(ctx context.Context) (links, error) {
	var found links
	begin := time.Now()
	err := c.use(func(conn *conn) (err error) {
		found, err = c.listUnchanged(ctx, conn)
		return err
	})
	if err != nil {
		return links{}, fmt.Errorf("list links: %w", err)
	}
	found.took = time.Since(begin)
	return found, nil
}

// listUnchanged repeats the request while links change during the list.
func (c *collector) listUnchanged(ctx context.Context, conn *conn) (links, error) {
	var changed error
	for range tries {
		found, err := c.listOnce(ctx, conn)
		switch reasonOf(err) {
		case interrupted:
			changed = err
		case timeout:
			return found, cmp.Or(changed, err)
		default:
			return found, err
		}
	}
	return links{}, changed
}

func (c *collector) listOnce(ctx context.Context, conn *conn) (links, error) {
	found := links{flags: make(map[string]uint32, len(c.config.Interfaces))}
	wanted := make(map[string]bool, len(c.config.Interfaces))
	for _, name := range c.config.Interfaces {
		wanted[name] = true
	}
	testing := c.config.writes()
	add := func(name []byte, alternative bool, flags uint32) {
		if wanted[string(name)] {
			found.flags[string(name)] = flags
		}
		if testing && !alternative && isTestLink(name) && len(found.leftovers) < leftovers {
			found.leftovers = append(found.leftovers, string(name))
		}
	}
	var changed bool
	err := conn.exchange(ctx, listLinks(), func(m netlink.Message) error {
		changed = changed || m.Header.Flags&netlink.DumpInterrupted != 0
		if m.Header.Type != unix.RTM_NEWLINK {
			return fmt.Errorf("a message of the type %d in a list of links", m.Header.Type)
		}
		found.count++
		return parseLink(m.Data, add)
	})
	switch {
	case err != nil:
		return found, err
	case changed:
		return found, collectors.Errorf(interrupted, "the links changed during the list")
	case found.count == 0: // every network namespace has lo
		return found, errors.New("a list without links")
	}
	return found, nil
}

// exchange sends a request and calls each with the messages of the answer: all except
// errors and the end of a list. It fails with a timeout when ctx ends.
func (c *conn) exchange(ctx context.Context, request netlink.Message, each func(netlink.Message) error) (err error) {
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
	}()
	sent, err := c.Send(request)
	if err != nil {
		return err
	}
	for m, err := range c.ReceiveIter() {
		switch {
		case err == nil && m.Header.Type == netlink.Overrun:
			err = unix.ENOBUFS
		case err == nil:
			err = netlink.Validate(sent, []netlink.Message{m})
		}
		if err == nil {
			err = each(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package http

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// writeBody writes the body of the last answer to body_output. That may be a pipe or a device;
// writing to it is bounded by patience.
func (c *collector) writeBody() error {
	const patience = 100 * time.Millisecond
	const create = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NONBLOCK
	f, err := os.OpenFile(c.config.BodyOutput, create, 0o600)
	if err != nil {
		return err
	}
	_ = f.SetWriteDeadline(time.Now().Add(patience)) // a file on a disk has none
	body := c.body.Bytes()
	_, err = f.Write(body[:min(len(body), int(c.config.BodySizeLimit))])
	return errors.Join(err, f.Close())
}

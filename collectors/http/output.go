package http

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// writeBody leaves the body of the last answer where body_output says, for people to look
// into. It may be a pipe or a device, whose reader is not waited for longer than patience.
func (h *check) writeBody() error {
	const patience = 100 * time.Millisecond
	const create = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NONBLOCK
	f, err := os.OpenFile(h.config.BodyOutput, create, 0o600)
	if err != nil {
		return err
	}
	_ = f.SetWriteDeadline(time.Now().Add(patience)) // a file on a disk has none
	body := h.body.Bytes()
	_, err = f.Write(body[:min(len(body), int(h.config.BodySizeLimit))])
	return errors.Join(err, f.Close())
}

package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/vitals-health/vitals/collectors/remote"
)

// eventLimit bounds one event of a watch, in bytes. An API server accepts no
// object larger than 3 MiB, so that nothing it serves is longer.
const eventLimit = 8 << 20

// errKubeEventTooLong is what the stream returns for an event beyond the limit.
var errKubeEventTooLong = errors.New("event is longer than 8 MiB")

// event is what matters of one event of a watch.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection of changes".
type event struct {
	Type   string
	Object struct {
		Metadata struct{ ResourceVersion string }
		// Code and Message belong to the Status that an ERROR event carries.
		Code    int
		Message string
	}
}

// stream reads the events of one watch. It is not safe for concurrent use.
type stream struct {
	budget  *budget
	decoder *json.Decoder
}

func newKubeStream(r io.Reader) *stream {
	budget := &budget{from: r, left: eventLimit}
	return &stream{budget, json.NewDecoder(budget)}
}

// next returns the next event, io.EOF at the end of the stream, and any other
// error for a stream that broke or is no watch.
func (s *stream) next() (event, error) {
	var event event
	err := s.decoder.Decode(&event)
	s.budget.left = eventLimit
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.Is(err, errKubeEventTooLong), errors.As(err, &syntax), errors.As(err, &mismatch):
		return event, malformed(err)
	case err != nil:
		return event, err
	}
	switch event.Type {
	case "ADDED", "MODIFIED", "DELETED", "BOOKMARK":
		return event, nil
	case "ERROR":
		return event, eventError(event)
	}
	return event, malformed(fmt.Errorf("event type %.40q", event.Type))
}

// eventError is the error that an ERROR event stands for.
func eventError(event event) error {
	code, reason := event.Object.Code, remote.ReasonProtocol
	if code >= 400 {
		reason = statusReason(code)
	}
	return &failure{reason, code, fmt.Errorf("error event, status %d: %.160q", code, event.Object.Message)}
}

// budget lets a limited number of bytes through until it is filled again.
type budget struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errKubeEventTooLong
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// eventLimit bounds one event of a watch, in bytes. An API server rejects objects above 3 MiB.
const eventLimit = 8 << 20

// The types of events that differ from an object that exists: one that ends a watch with a status,
// one that reports a position, and one of an object that is no longer selected.
const eventError, eventBookmark, eventDeleted = "ERROR", "BOOKMARK", "DELETED"

// errEventTooLong is the error for an event beyond the limit.
var errEventTooLong = errors.New("event is longer than 8 MiB")

// event is the used part of one event of a watch.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection of changes".
type event struct {
	Type string
	// Raw is the object in JSON, and Object its used part.
	Raw    json.RawMessage `json:"object"`
	Object struct {
		Metadata struct{ ResourceVersion string }
		// Code and Message are those of the Status in an ERROR event.
		Code    int
		Message string
	} `json:"-"`
}

// stream reads the events of one watch. It is not safe for concurrent use.
type stream struct {
	limited *eventReader
	decoder *json.Decoder
}

func newStream(r io.Reader) *stream {
	limited := &eventReader{from: r, left: eventLimit}
	return &stream{limited, json.NewDecoder(limited)}
}

// next returns the next event. The error is io.EOF at the regular end of the stream.
func (s *stream) next() (event, error) {
	var event event
	err := s.decoder.Decode(&event)
	s.limited.left = eventLimit
	if err == nil && len(event.Raw) > 0 {
		err = json.Unmarshal(event.Raw, &event.Object)
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, mismatch := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, errEventTooLong), syntax, mismatch:
		return event, malformed(err)
	case err != nil:
		return event, err
	}
	switch event.Type {
	case "ADDED", "MODIFIED", eventDeleted, eventBookmark:
		return event, nil
	case eventError:
		return event, errorOfEvent(event)
	}
	return event, malformed(fmt.Errorf("event type %.40q", event.Type))
}

// eventReader is a reader of at most left bytes. next resets the limit for each event.
type eventReader struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (b *eventReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errEventTooLong
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

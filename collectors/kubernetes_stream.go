package collectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// kubeEventLimit bounds one event of a watch, in bytes. An API server accepts no
// object larger than 3 MiB, so that nothing it serves is longer.
const kubeEventLimit = 8 << 20

// errKubeEventTooLong is what the stream returns for an event beyond the limit.
var errKubeEventTooLong = errors.New("event is longer than 8 MiB")

// kubeEvent is what matters of one event of a watch.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection of changes".
type kubeEvent struct {
	Type   string
	Object struct {
		Metadata struct{ ResourceVersion string }
		// Code and Message belong to the Status that an ERROR event carries.
		Code    int
		Message string
	}
}

// kubeStream reads the events of one watch. It is not safe for concurrent use.
type kubeStream struct {
	budget  *kubeBudget
	decoder *json.Decoder
}

func newKubeStream(r io.Reader) *kubeStream {
	budget := &kubeBudget{from: r, left: kubeEventLimit}
	return &kubeStream{budget, json.NewDecoder(budget)}
}

// next returns the next event, io.EOF at the end of the stream, and any other
// error for a stream that broke or is no watch.
func (s *kubeStream) next() (kubeEvent, error) {
	var event kubeEvent
	err := s.decoder.Decode(&event)
	s.budget.left = kubeEventLimit
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.Is(err, errKubeEventTooLong), errors.As(err, &syntax), errors.As(err, &mismatch):
		return event, kubeMalformed(err)
	case err != nil:
		return event, err
	}
	switch event.Type {
	case "ADDED", "MODIFIED", "DELETED", "BOOKMARK":
		return event, nil
	case "ERROR":
		return event, kubeEventError(event)
	}
	return event, kubeMalformed(fmt.Errorf("event type %.40q", event.Type))
}

// kubeEventError is the error that an ERROR event stands for.
func kubeEventError(event kubeEvent) error {
	code, reason := event.Object.Code, ReasonProtocol
	if code >= 400 {
		reason = kubeStatusReason(code)
	}
	return &kubeFailure{reason, code, fmt.Errorf("error event, status %d: %.160q", code, event.Object.Message)}
}

// kubeBudget lets a limited number of bytes through until it is filled again.
type kubeBudget struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (b *kubeBudget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errKubeEventTooLong
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

package grpchealth

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

const (
	// messageTimeout bounds the arrival of a message. A client sends it with the headers.
	messageTimeout = time.Second
	// watchTimeout is how long a client of Watch may read nothing, although there is a message for it.
	watchTimeout = 30 * time.Second
	// prefixSize is the size of what precedes a message: a flag, and the length in 4 bytes.
	// Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, Length-Prefixed-Message.
	prefixSize = 5
	// maxRefused is how many calls of a connection are refused before it is closed.
	maxRefused = 100
)

// refusedKey is the key of the number of refused calls in the context of a connection.
type refusedKey struct{}

// Context is a ConnContext for http.Server. With it, a connection is closed whose calls are
// refused again and again.
func Context(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, refusedKey{}, new(atomic.Int32))
}

// call serves one call. The library gets a call with its whole message and few headers: it
// needs 50 KiB for a call that waits for its message, before it can refuse one.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	maps.DeleteFunc(r.Header, func(name string, _ []string) bool {
		return name != "Content-Type" && name != "Grpc-Encoding" && name != "Grpc-Timeout"
	})
	message, err := receive(w, r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(message))
	if r.URL.Path == healthgrpc.Health_Watch_FullMethodName {
		s.watch(w, r)
		return
	}
	select {
	case s.calls <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	response := &response{header: http.Header{}, status: http.StatusOK}
	func() {
		defer func() { <-s.calls }()
		s.grpc.ServeHTTP(response, r)
	}()
	response.send(w)
}

// watch serves a call of Watch, if there is a token for it.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	select {
	case s.watches <- struct{}{}:
		defer func() { <-s.watches }()
	default:
		refuse(w, r, status.Errorf(codes.ResourceExhausted, "too many calls of Watch at a time: at most %d", maxWatches))
		return
	}
	// The timeouts of the server are for requests that end.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // HTTP/2 supports it
	s.grpc.ServeHTTP(endless{w}, r)
}

// endless is the ResponseWriter of a call that does not end. Each message has watchTimeout to be
// sent, so a client that reads nothing does not keep its token.
type endless struct{ http.ResponseWriter }

func (e endless) Flush() {
	control := http.NewResponseController(e.ResponseWriter) // HTTP/2 supports all of it
	_ = control.SetWriteDeadline(time.Now().Add(watchTimeout))
	_ = control.Flush() // the library notices the end of the client
	_ = control.SetWriteDeadline(time.Time{})
}

// receive returns the message of a request with its prefix. An error has the status of the call.
func receive(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	switch r.URL.Path {
	case healthgrpc.Health_Check_FullMethodName, healthgrpc.Health_List_FullMethodName, healthgrpc.Health_Watch_FullMethodName:
	default:
		return nil, status.Error(codes.Unimplemented, "this server has Check, List and Watch of grpc.health.v1.Health only")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(messageTimeout)) // HTTP/2 supports it
	message := make([]byte, prefixSize)
	_, err := io.ReadFull(r.Body, message)
	if err == nil {
		size := binary.BigEndian.Uint32(message[1:])
		if size > maxRequest {
			return nil, status.Errorf(codes.ResourceExhausted, "the message has %d bytes: at most %d", size, maxRequest)
		}
		message = append(message, make([]byte, size)...)
		_, err = io.ReadFull(r.Body, message[prefixSize:])
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, status.Errorf(codes.DeadlineExceeded, "the message did not arrive within %s", messageTimeout)
	case err != nil:
		return nil, status.Errorf(codes.InvalidArgument, "the message is incomplete: %v", err)
	}
	return message, nil
}

// refuse ends a call with the status of err, and its connection after many such calls.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	h := w.Header()
	if refused, ok := r.Context().Value(refusedKey{}).(*atomic.Int32); ok && refused.Add(1) >= maxRefused {
		h.Set("Connection", "close") // net/http sends GOAWAY
	}
	h.Set("Content-Type", "application/grpc")
	h.Set("Grpc-Status", strconv.Itoa(int(status.Code(err))))
	h.Set("Grpc-Message", status.Convert(err).Message())
	w.WriteHeader(http.StatusOK)
}

// response is the response of the library in memory. A client that does not read it keeps no token.
type response struct {
	header http.Header
	body   bytes.Buffer
	status int
}

func (r *response) Header() http.Header         { return r.header }
func (r *response) Write(p []byte) (int, error) { return r.body.Write(p) }
func (r *response) WriteHeader(status int)      { r.status = status }
func (r *response) Flush()                      {}

// send writes the response to the client. Its trailers have the status of the call.
func (r *response) send(w http.ResponseWriter) {
	trailers, h := r.header["Trailer"], w.Header()
	for name, values := range r.header {
		if !slices.Contains(trailers, name) {
			h[name] = values
		}
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body.Bytes()) // the client may be gone
	for _, name := range trailers {
		h[name] = r.header[name]
	}
}

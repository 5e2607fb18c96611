package fakes

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// maxBody bounds a request's body, in bytes. The largest is a login.
	maxBody = 64 << 10
	// readTimeout bounds the time that a client takes to send a request.
	readTimeout = 10 * time.Second
)

// service is a fake: a server on its own port, and its current fault.
type service struct {
	name   string
	slow   time.Duration
	logger *slog.Logger
	// secure is the configuration of TLS; nil is plain HTTP.
	secure *tls.Config
	// answer serves the requests that no common fault affects.
	answer http.Handler
	// deny answers with an error status in the shape of this API.
	deny func(w http.ResponseWriter, r *http.Request, code int)
	// onFault is called just before a fault takes effect; it may be nil.
	onFault func(fault string)

	port    *port // from choose on
	traffic traffic

	// switching serialises changes of the fault and guards what follows.
	switching sync.Mutex
	running   *running // nil while the port is closed
	closed    bool

	mu      sync.Mutex // guards what follows
	fault   string
	changed chan struct{} // closed when fault changes
}

func newService(name string, opts Options) *service {
	return &service{name: name, slow: opts.Slow, logger: opts.Logger, fault: None, changed: make(chan struct{})}
}

// choose reserves a free port. It is called before any service starts, because they
// publish each other's addresses.
func (s *service) choose() error {
	p, err := reserve()
	if err != nil {
		return fmt.Errorf("reserve a port: %w", err)
	}
	s.port = p
	return nil
}

// start listens on the port.
func (s *service) start() error {
	s.switching.Lock()
	defer s.switching.Unlock()
	return s.listenLocked()
}

// url is the server's root, without a trailing slash. It does not change.
func (s *service) url() string {
	if s.secure != nil {
		return "https://" + s.port.addr
	}
	return "http://" + s.port.addr
}

// state returns the active fault and a channel that is closed when it changes.
func (s *service) state() (fault string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault, s.changed
}

// set switches to fault and returns when it has taken effect.
func (s *service) set(fault string) error {
	if err := checkFault(s.name, fault); err != nil {
		return err
	}
	s.switching.Lock()
	defer s.switching.Unlock()
	if s.closed {
		return fmt.Errorf("set fault of %s: %w", s.name, net.ErrClosed)
	}
	if s.onFault != nil {
		s.onFault(fault)
	}
	s.publish(fault)
	switch {
	case fault == faultRefuse:
		s.stopLocked()
	case s.running == nil:
		if err := s.listenLocked(); err != nil {
			s.publish(faultRefuse)
			return fmt.Errorf("heal %s: %w", s.name, err)
		}
	}
	s.logger.Info("Fake switched", "dependency", s.name, "fault", fault)
	return nil
}

func (s *service) publish(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
	close(s.changed)
	s.changed = make(chan struct{})
}

// close stops the server for good and waits for its goroutines.
func (s *service) close() error {
	s.switching.Lock()
	defer s.switching.Unlock()
	if s.closed || s.port == nil {
		return nil
	}
	s.closed = true
	s.stopLocked()
	return s.port.release()
}

func (s *service) listenLocked() error {
	r, err := serve(s.port.addr, s.secure, s, &s.traffic.connections)
	if err != nil {
		return err
	}
	s.running = r
	return nil
}

func (s *service) stopLocked() {
	if s.running != nil {
		s.running.stop()
		s.running = nil
	}
}

// ServeHTTP answers a request according to the current fault.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.traffic.requests.Add(1)
	if err := readBody(w, r); err != nil {
		code := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			code = http.StatusRequestEntityTooLarge
		}
		s.deny(w, r, code)
		return
	}
	switch fault := s.await(r.Context()); fault {
	case faultRefuse, faultEmpty, faultHang:
		// net/http closes the connection without a reply and logs nothing.
		panic(http.ErrAbortHandler)
	case fault401, fault403, fault500, fault503:
		code, _ := strconv.Atoi(fault)
		s.deny(w, r, code)
	default:
		s.answer.ServeHTTP(w, r)
	}
}

// await blocks while the service hangs, and for s.slow while it is slow. It returns the
// fault that applies to the request: faultHang only if the request has ended.
func (s *service) await(ctx context.Context) string {
	for {
		fault, changed := s.state()
		var late <-chan time.Time
		switch fault {
		case faultHang:
		case faultSlow:
			late = time.After(s.slow)
		default:
			return fault
		}
		select {
		case <-changed:
		case <-late:
			return fault
		case <-ctx.Done():
			return faultHang
		}
	}
}

// readBody reads the whole body into memory: net/http detects that a client has gone
// only after the end of its request.
func readBody(w http.ResponseWriter, r *http.Request) error {
	rc := http.NewResponseController(w)
	if err := rc.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return rc.SetReadDeadline(time.Time{})
}

package http

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/panics"
)

// trace records the times of the requests of one collection: one, and one more for each followed
// redirect. Goroutines that outlive the collection may still write to it.
type trace struct {
	// began is when the collection began.
	began time.Time

	mu sync.Mutex // guards what follows
	// hops are the requests, in their order.
	hops []hop
	// ended is when the answer was read, or the request failed.
	ended time.Time
}

// hop is one request. The time of an event that did not happen is zero.
type hop struct {
	begin                        time.Time
	resolveBegin, resolveEnd     time.Time
	connectBegin, connectEnd     time.Time
	handshakeBegin, handshakeEnd time.Time
	// ready is when there was a connection to send the request on, firstByte when the first
	// byte of the answer arrived.
	ready, firstByte time.Time
	// peer is the address of the connection, before that the last one that was tried.
	peer string
	// certificateRequested reports whether the server requested a client certificate.
	certificateRequested bool
}

// The values of the label phase.
const (
	phaseResolve    = "resolve"
	phaseConnect    = "connect"
	phaseTLS        = "tls"
	phaseProcessing = "processing"
	phaseTransfer   = "transfer"
)

func phases() []string {
	return []string{phaseResolve, phaseConnect, phaseTLS, phaseProcessing, phaseTransfer}
}

// begin starts a request to a host and a port. They are the peer until there is an address.
func (t *trace) begin(host string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hops = append(t.hops, hop{begin: time.Now(), peer: host})
}

// end ends the last request.
func (t *trace) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = time.Now()
}

// total returns how long the collection took.
func (t *trace) total() time.Duration { return t.ended.Sub(t.began) }

// client returns the hooks for net/http. Several addresses may be tried at a time: the phase
// connect lasts from the first attempt to the first success.
func (t *trace) client() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { t.mark(func(h *hop) *time.Time { return &h.resolveBegin }) },
		DNSDone: func(info httptrace.DNSDoneInfo) {
			if info.Err == nil {
				t.mark(func(h *hop) *time.Time { return &h.resolveEnd })
			}
		},
		ConnectStart: func(_, address string) {
			t.mark(func(h *hop) *time.Time {
				if h.connectEnd.IsZero() {
					h.peer = address
				}
				return &h.connectBegin
			})
		},
		ConnectDone: func(_, address string, err error) {
			if err != nil {
				return
			}
			t.mark(func(h *hop) *time.Time {
				if h.connectEnd.IsZero() {
					h.peer = address
				}
				return &h.connectEnd
			})
		},
		TLSHandshakeStart: func() { t.mark(func(h *hop) *time.Time { return &h.handshakeBegin }) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				t.mark(func(h *hop) *time.Time { return &h.handshakeEnd })
			}
		},
		GotConn:              func(httptrace.GotConnInfo) { t.mark(func(h *hop) *time.Time { return &h.ready }) },
		GotFirstResponseByte: func() { t.mark(func(h *hop) *time.Time { return &h.firstByte }) },
	}
}

// mark sets a time of the current request to now, unless it is set.
func (t *trace) mark(at func(*hop) *time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if moment := at(&t.hops[len(t.hops)-1]); moment.IsZero() {
		*moment = time.Now()
	}
}

// durations returns how long the completed phases took, the sum over all requests.
func (t *trace) durations() map[string]time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	sums := map[string]time.Duration{}
	add := func(phase string, from, to time.Time) {
		if !from.IsZero() && !to.IsZero() {
			sums[phase] += to.Sub(from)
		}
	}
	for i, h := range t.hops {
		add(phaseResolve, h.resolveBegin, h.resolveEnd)
		add(phaseConnect, h.connectBegin, h.connectEnd)
		add(phaseTLS, h.handshakeBegin, h.handshakeEnd)
		add(phaseProcessing, h.ready, h.firstByte)
		end := t.ended
		if i+1 < len(t.hops) {
			end = t.hops[i+1].begin
		}
		add(phaseTransfer, h.firstByte, end)
	}
	return sums
}

// last returns the last request, a zero hop without any.
func (t *trace) last() hop {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.hops) == 0 {
		return hop{}
	}
	return t.hops[len(t.hops)-1]
}

// certificates returns settings that record whether the server requests a client certificate.
func (t *trace) certificates(settings *tls.Config) *tls.Config {
	settings = settings.Clone()
	given := settings.GetClientCertificate
	settings.GetClientCertificate = func(info *tls.CertificateRequestInfo) (cert *tls.Certificate, err error) {
		defer panics.Into(&err)
		t.mark(func(h *hop) *time.Time { h.certificateRequested = true; return &h.handshakeBegin })
		if given == nil {
			return &tls.Certificate{}, nil // none is sent
		}
		return given(info)
	}
	return settings
}

// cause returns why the last request failed. The time may have ended while the name was resolved,
// which the error of net/http does not contain. In TLS 1.3, a server rejects a client's certificate,
// or the lack of one, after the client has completed the handshake. The client then reads either
// the alert or the end of the connection.
func (t *trace) cause(err error) error {
	h := t.last()
	if h.resolving() && remote.ReasonOf(err) == remote.ReasonTimeout {
		return collectors.Errorf(remote.ReasonDNS, "the name was not resolved in time: %w", err)
	}
	if h.certificateRequested && h.firstByte.IsZero() && remote.ReasonOf(err) == remote.ReasonProtocol {
		return collectors.Errorf(remote.ReasonTLS, "%w (the server requests a client certificate)", err)
	}
	return err
}

// resolving reports whether the name is not resolved yet.
func (h hop) resolving() bool { return !h.resolveBegin.IsZero() && h.resolveEnd.IsZero() }

// phase returns the current phase of the request.
func (h hop) phase() string {
	switch {
	case !h.firstByte.IsZero():
		return phaseTransfer
	case !h.ready.IsZero():
		return phaseProcessing
	case !h.handshakeBegin.IsZero():
		return phaseTLS
	case !h.connectBegin.IsZero():
		return phaseConnect
	}
	return phaseResolve
}

// address splits the peer. A Unix socket has a path and no port.
func (h hop) address() (host, port string) {
	host, port, err := net.SplitHostPort(h.peer)
	if err != nil {
		return h.peer, ""
	}
	return host, port
}

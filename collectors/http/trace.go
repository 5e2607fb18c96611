package http

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// trace keeps when what happened in the requests of one round: one, and another for
// each redirect that is followed. Goroutines that outlive the round may still tell it.
type trace struct {
	// began is when the round did.
	began time.Time

	mu sync.Mutex // guards what follows
	// hops are the requests, in their order.
	hops []hop
	// ended is when the answer had been read, or was given up.
	ended time.Time
}

// hop is one request. What did not happen has the zero time.
type hop struct {
	begin                        time.Time
	resolveBegin, resolveEnd     time.Time
	connectBegin, connectEnd     time.Time
	handshakeBegin, handshakeEnd time.Time
	// ready is when there was a connection to send the request on, answered when the
	// first byte of the answer came.
	ready, answered time.Time
	// peer is the address that was last tried, or the one that there is a connection to.
	peer string
	// wanted is whether the server asked for a client certificate.
	wanted bool
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

// begin starts a request to a host and a port, which stand for the peer until its
// address is known.
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

// total is how long the round took.
func (t *trace) total() time.Duration { return t.ended.Sub(t.began) }

// client is what net/http calls. Several addresses may be tried at a time: connecting
// lasts from the first attempt to the first that succeeds.
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
		GotFirstResponseByte: func() { t.mark(func(h *hop) *time.Time { return &h.answered }) },
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

// durations are how long the phases took that came to an end, all requests together.
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
		add(phaseProcessing, h.ready, h.answered)
		end := t.ended
		if i+1 < len(t.hops) {
			end = t.hops[i+1].begin
		}
		add(phaseTransfer, h.answered, end)
	}
	return sums
}

// last is the last request; a round without any has an empty one.
func (t *trace) last() hop {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.hops) == 0 {
		return hop{}
	}
	return t.hops[len(t.hops)-1]
}

// certificates makes settings of TLS tell whether the server asks for a client certificate.
func (t *trace) certificates(settings *tls.Config) *tls.Config {
	settings = settings.Clone()
	given := settings.GetClientCertificate
	settings.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		t.mark(func(h *hop) *time.Time { h.wanted = true; return &h.handshakeBegin })
		if given == nil {
			return &tls.Certificate{}, nil // none is sent
		}
		return given(info)
	}
	return settings
}

// cause is why the last request failed. In TLS 1.3, a server refuses a client's certificate,
// or the lack of one, when the handshake is over for the client. Whether its alert or a
// broken connection is seen first is a matter of luck.
func (t *trace) cause(err error) error {
	if h := t.last(); h.wanted && h.answered.IsZero() && remote.ReasonOf(err) == remote.ReasonProtocol {
		return collectors.Errorf(remote.ReasonTLS, "%w (the server asks for a client certificate)", err)
	}
	return err
}

// doing names the phase in which the request is.
func (h hop) doing() string {
	switch {
	case !h.answered.IsZero():
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

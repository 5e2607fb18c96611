package fakes

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// running is a listening server and its goroutines.
type running struct {
	server *http.Server
	cancel context.CancelFunc
	accept sync.WaitGroup // the goroutine that accepts connections
	conns  sync.WaitGroup // one for each connection's goroutine
	// accepted counts the connections.
	accepted *atomic.Uint64
}

// serve listens on addr, with TLS unless its configuration is nil, and serves h
// until stop. It counts the connections in accepted.
func serve(addr string, secure *tls.Config, h http.Handler, accepted *atomic.Uint64) (*running, error) {
	ctx, cancel := context.WithCancel(context.Background())
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		cancel()
		return nil, err
	}
	if secure != nil {
		ln = tls.NewListener(ln, secure)
	}
	r := &running{cancel: cancel, accepted: accepted}
	r.server = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         r.track,
	}
	// Serve returns when stop closes the listener; no other error is possible.
	r.accept.Go(func() { _ = r.server.Serve(ln) })
	return r, nil
}

// stop closes the listener and all connections, and waits for the goroutines.
func (r *running) stop() {
	r.cancel()
	_ = r.server.Close()
	r.accept.Wait()
	// Close again: a connection may have been accepted during the first Close.
	_ = r.server.Close()
	r.conns.Wait()
}

func (r *running) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		r.conns.Add(1)
		r.accepted.Add(1)
	case http.StateClosed, http.StateHijacked:
		r.conns.Done()
	}
}

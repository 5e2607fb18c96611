package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/vitals-health/vitals/internal/server"
)

// closeTimeout bounds how long running requests may take when the process ends.
const closeTimeout = 2 * time.Second

// listeners are the open doors of the process and the servers behind them.
type listeners struct {
	web, probe, local []net.Listener
	webServer         *http.Server
	probeServer       *http.Server
	localServer       *http.Server
	writers           writers
	flags             *web.FlagConfig
	logger            *slog.Logger
}

// listen opens everything that the flags ask for, or nothing: a port that is taken
// is an error, because somebody else would answer the probes. A mistake in
// --web.config.file is one as well.
func (p *program) listen(s *server.Server, logger *slog.Logger) (l *listeners, err error) {
	l = &listeners{
		flags: p.web, logger: logger,
		webServer: server.HTTPServer(s.Handler()), probeServer: server.HTTPServer(s.Probes()),
	}
	l.localServer = server.HTTPServer(s.Local(l.writers.mayWrite))
	l.localServer.ConnContext = withConnection
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if err := web.Validate(*p.web.WebConfigFile); err != nil {
		return l, fmt.Errorf("--web.config.file=%s: %w", *p.web.WebConfigFile, err)
	}
	if p.web.WebSystemdSocket != nil && *p.web.WebSystemdSocket {
		if l.web, err = activation.Listeners(); err == nil && len(l.web) == 0 {
			err = errors.New("--web.systemd-socket is given, but systemd passed no socket")
		}
		if err != nil {
			return l, err
		}
	} else {
		for _, address := range *p.web.WebListenAddresses {
			if err := l.add(&l.web, "tcp", address); err != nil {
				return l, err
			}
		}
	}
	if p.probeAddress != "" {
		if err := l.add(&l.probe, "tcp", p.probeAddress); err != nil {
			return l, err
		}
	}
	return l, l.openSocket(p.socket)
}

func (l *listeners) add(to *[]net.Listener, network, address string) error {
	ln, err := net.Listen(network, address)
	switch {
	case err != nil && !isListenAddress(address):
		return fmt.Errorf("listen on %s: expected :PORT or HOST:PORT, with a port up to 65535", address)
	case err != nil:
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	*to = append(*to, ln)
	return nil
}

// start serves on all listeners; an error arrives when one of them ends.
func (l *listeners) start() <-chan error {
	failed := make(chan error, 8)
	serve := func(lns []net.Listener, f func([]net.Listener) error) {
		if len(lns) == 0 {
			return
		}
		go func() {
			if err := f(lns); err != nil && !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		}()
	}
	serve(l.web, func(lns []net.Listener) error { return web.ServeMultiple(lns, l.webServer, l.flags, l.logger) })
	serve(l.probe, func(lns []net.Listener) error { return l.probeServer.Serve(lns[0]) })
	serve(l.local, func(lns []net.Listener) error { return l.localServer.Serve(lns[0]) })
	return failed
}

// close ends all servers; running requests get a moment to finish. A Unix socket is
// removed as it is closed, and not later: its path may be another process' by then.
func (l *listeners) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, s := range []*http.Server{l.webServer, l.probeServer, l.localServer} {
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
	}
	for _, lns := range [][]net.Listener{l.web, l.probe, l.local} {
		for _, ln := range lns {
			_ = ln.Close()
		}
	}
}

// announce logs where to look.
func (p *program) announce(l *listeners) {
	for i, ln := range l.web {
		if i == 0 && p.welcome != "" {
			fmt.Fprintf(p.stdout, p.welcome, "http://"+ln.Addr().String())
		}
	}
	for _, ln := range l.probe {
		l.logger.Info("listening for probes", "address", ln.Addr().String())
	}
	for _, ln := range l.local {
		l.logger.Info("listening", "socket", filepath.Clean(ln.Addr().String()))
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/vitals-health/vitals/internal/server"
)

// defaultSocket is where the exec probe looks.
const defaultSocket = "/run/vitals/vitals.sock"

// closeTimeout bounds how long running requests may take when the process ends.
const closeTimeout = 2 * time.Second

// listeners are the open doors of the process and the servers behind them.
type listeners struct {
	web, probe, local []net.Listener
	webServer         *http.Server
	probeServer       *http.Server
	localServer       *http.Server
	flags             *web.FlagConfig
	logger            *slog.Logger
}

// listen opens everything that the flags ask for, or nothing: a port that is taken
// is an error, because somebody else would answer the probes. A mistake in
// --web.config.file is one as well.
func (p *program) listen(s *server.Server, logger *slog.Logger) (l *listeners, err error) {
	l = &listeners{
		flags: p.web, logger: logger,
		webServer: server.HTTPServer(s.Handler()), probeServer: server.HTTPServer(s.Probes()), localServer: server.HTTPServer(s.Local()),
	}
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
	return l, l.openSocket(p.unixSocket)
}

func (l *listeners) add(to *[]net.Listener, network, address string) error {
	ln, err := net.Listen(network, address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	*to = append(*to, ln)
	return nil
}

// openSocket opens the Unix socket. The default one is left out where its directory
// cannot be written to.
func (l *listeners) openSocket(path string) error {
	if path == "" {
		return nil
	}
	if err := removeDeadSocket(path); err != nil {
		return err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		if path == defaultSocket {
			l.logger.Info("no Unix socket", "path", path, "err", err)
			return nil
		}
		return fmt.Errorf("listen on the Unix socket %s: %w", path, err)
	}
	l.local = append(l.local, ln)
	// The group may report and probe; others may not.
	return os.Chmod(path, 0o660)
}

// removeDeadSocket removes a socket that nobody listens on any more. Only a refused
// connection says so: a process that is too busy to accept, or that this one may
// not talk to, is alive.
func removeDeadSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // not there, or for the listener to complain about
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("listen on the Unix socket %s: there is a file of another type", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		_ = conn.Close()
		return fmt.Errorf("listen on the Unix socket %s: another process answers on it", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("listen on the Unix socket %s: another process may be using it: %w", path, err)
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

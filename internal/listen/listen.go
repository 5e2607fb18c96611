package listen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/server"
)

// closeTimeout bounds how long running requests may take when the process ends.
const closeTimeout = 2 * time.Second

// Listeners are the open sockets of the process and their servers.
type Listeners struct {
	web, probe  []net.Listener
	webServer   *http.Server
	probeServer *http.Server
	localServer *http.Server
	flags       *web.FlagConfig
	logger      *slog.Logger

	// socket is the Unix socket; nil where none is open.
	socket atomic.Pointer[socket]
	rights socketRights
	// lost is set while the file of the Unix socket is missing.
	lost atomic.Bool
	// stopKeeping ends keepSocket, and kept is closed after its end; nil before Serve.
	stopKeeping context.CancelFunc
	kept        chan struct{}
}

// Options configure the listeners.
type Options struct {
	// Web holds the flags of Prometheus' exporters.
	Web *web.FlagConfig
	// ProbeAddress is the address of the listener for probes alone; empty for none.
	ProbeAddress string
	Socket       Socket
	Logger       *slog.Logger
}

// Open opens all listeners of the options, or none: a port in use is an error, because
// another process would answer the probes. An invalid --web.config.file is an error as
// well.
func Open(s *server.Server, o Options) (l *Listeners, err error) {
	l = &Listeners{
		flags: o.Web, logger: o.Logger,
		webServer: server.HTTPServer(s.Handler()), probeServer: server.HTTPServer(s.Probes()),
	}
	l.localServer = server.HTTPServer(s.Local(l.mayWrite))
	l.localServer.ConnContext = withConnection
	errorLog := slog.NewLogLogger(newConnectionErrors(o.Logger), slog.LevelError)
	for _, s := range []*http.Server{l.webServer, l.probeServer, l.localServer} {
		s.ErrorLog = errorLog
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if err := web.Validate(*o.Web.WebConfigFile); err != nil {
		return l, fmt.Errorf("--web.config.file=%s: %w", *o.Web.WebConfigFile, err)
	}
	if o.Web.WebSystemdSocket != nil && *o.Web.WebSystemdSocket {
		if l.web, err = activation.Listeners(); err == nil && len(l.web) == 0 {
			err = errors.New("--web.systemd-socket is given, but systemd passed no socket")
		}
		if err != nil {
			return l, err
		}
	} else {
		for _, address := range *o.Web.WebListenAddresses {
			if err := l.add(&l.web, "tcp", address); err != nil {
				return l, err
			}
		}
	}
	if o.ProbeAddress != "" {
		if err := l.add(&l.probe, "tcp", o.ProbeAddress); err != nil {
			return l, err
		}
	}
	return l, l.openSocket(o.Socket)
}

func (l *Listeners) add(to *[]net.Listener, network, address string) error {
	ln, err := net.Listen(network, address)
	switch {
	case err != nil && !config.IsListenAddress(address):
		return fmt.Errorf("listen on %s: expected :PORT or HOST:PORT, with a port up to 65535", address)
	case err != nil:
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	*to = append(*to, ln)
	return nil
}

// Serve serves on all listeners. The channel gets an error when one of them ends.
func (l *Listeners) Serve() <-chan error {
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
	if s := l.socket.Load(); s != nil {
		go l.serveSocket(s, failed)
		l.keep(failed)
	}
	return failed
}

// keep starts keepSocket.
func (l *Listeners) keep(failed chan<- error) {
	ctx, cancel := context.WithCancel(context.Background())
	l.stopKeeping, l.kept = cancel, make(chan struct{})
	go func() {
		defer close(l.kept)
		l.keepSocket(ctx, failed)
	}()
}

// Close stops all servers. Running requests have closeTimeout to finish. A Unix socket is
// removed when it is closed and not later, because another process may then use the path.
func (l *Listeners) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if l.kept != nil {
		l.stopKeeping()
		select {
		case <-l.kept:
		case <-ctx.Done():
		}
	}
	for _, s := range []*http.Server{l.webServer, l.probeServer, l.localServer} {
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
	}
	for _, ln := range slices.Concat(l.web, l.probe) {
		_ = ln.Close()
	}
	if s := l.socket.Load(); s != nil {
		_ = s.ln.Close()
	}
}

// Log logs the addresses of all listeners but those of the exporter toolkit, which logs
// its own.
func (l *Listeners) Log() {
	for _, ln := range l.probe {
		l.logger.Info("listening for probes", "address", ln.Addr().String())
	}
	if s := l.socket.Load(); s != nil {
		l.logger.Info("listening", "socket", filepath.Clean(s.path))
	}
}

// WebAddress returns the address of the first listener for everything.
func (l *Listeners) WebAddress() string {
	if len(l.web) == 0 {
		return ""
	}
	return l.web[0].Addr().String()
}

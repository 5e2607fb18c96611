package listen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/vitals-health/vitals/internal/grpchealth"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/server/limits"
)

// closeTimeout bounds how long running requests may take when the process ends.
const closeTimeout = 2 * time.Second

// Listeners are the open sockets of the process and their servers.
type Listeners struct {
	web, probe, grpc door
	// local is that of the Unix socket, whose listener may change.
	local  door
	health *grpchealth.Server
	flags  *web.FlagConfig
	logger *slog.Logger

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
	// GRPCAddress is the address of the listener for health checks over gRPC alone; empty for
	// none. The other listeners have them as well.
	GRPCAddress string
	Socket      Socket
	// Memory is the memory limit of the process in bytes.
	Memory int64
	Logger *slog.Logger
}

// Open opens all listeners of the options, or none: a port in use is an error, because
// another process would answer the probes. An invalid --web.config.file is an error as
// well.
func Open(s *server.Server, o Options) (l *Listeners, err error) {
	health := grpchealth.New(s)
	serve := func(h http.Handler) *http.Server {
		s := limits.HTTPServer(health.Handler(h))
		s.ConnContext = grpchealth.Context
		return s
	}
	l = newListeners(o.Logger, health)
	l.flags = o.Web
	l.web.server, l.probe.server, l.grpc.server = serve(s.Handler()), serve(s.Probes()), serve(http.HandlerFunc(notGRPC))
	l.local.server = serve(s.Local(l.mayWrite))
	l.local.server.ConnContext = withConnection
	errorLog := slog.NewLogLogger(newServerErrors(o.Logger), slog.LevelError)
	for _, d := range l.doors() {
		d.server.ErrorLog = errorLog
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if err := l.limit(o); err != nil {
		return l, err
	}
	if err := web.Validate(*o.Web.WebConfigFile); err != nil {
		return l, fmt.Errorf("--web.config.file=%s: %w", *o.Web.WebConfigFile, err)
	}
	if err := l.setProtocols(*o.Web.WebConfigFile); err != nil {
		return l, err
	}
	if o.Web.WebSystemdSocket != nil && *o.Web.WebSystemdSocket {
		if l.web.open, err = activation.Listeners(); err == nil && len(l.web.open) == 0 {
			err = errors.New("--web.systemd-socket is given, but systemd passed no socket")
		}
		if err != nil {
			return l, err
		}
	} else {
		for _, address := range *o.Web.WebListenAddresses {
			if err := l.web.listen(address, "web.listen-address"); err != nil {
				return l, err
			}
		}
	}
	if o.ProbeAddress != "" {
		if err := l.probe.listen(o.ProbeAddress, "probe.listen-address"); err != nil {
			return l, err
		}
	}
	if o.GRPCAddress != "" {
		if err := l.grpc.listen(o.GRPCAddress, "grpc.listen-address"); err != nil {
			return l, err
		}
	}
	return l, l.openSocket(o.Socket)
}

// Serve serves on all listeners. The channel gets an error when one of them ends.
func (l *Listeners) Serve() <-chan error {
	failed := make(chan error, 8)
	serve := func(d *door, serve func([]net.Listener) error) {
		if len(d.open) == 0 {
			return
		}
		go func() {
			if err := serve(d.limited()); err != nil && !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		}()
	}
	serve(&l.web, func(lns []net.Listener) error { return web.ServeMultiple(lns, l.web.server, l.flags, l.logger) })
	for _, d := range []*door{&l.probe, &l.grpc} {
		serve(d, func(lns []net.Listener) error { return d.server.Serve(lns[0]) })
	}
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
	l.health.Close() // first: a call of Watch would hold up the servers
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if l.kept != nil {
		l.stopKeeping()
		select {
		case <-l.kept:
		case <-ctx.Done():
		}
	}
	for _, d := range l.doors() {
		if d.server.Shutdown(ctx) != nil {
			_ = d.server.Close()
		}
		for _, ln := range d.open {
			_ = ln.Close()
		}
	}
	if s := l.socket.Load(); s != nil {
		_ = s.ln.Close()
	}
}

// Log logs the addresses of all listeners but those of the exporter toolkit, which logs
// its own.
func (l *Listeners) Log() {
	for _, ln := range l.probe.open {
		l.logger.Info("listening for probes", "address", ln.Addr().String())
	}
	for _, ln := range l.grpc.open {
		l.logger.Info("listening for gRPC", "address", ln.Addr().String())
	}
	if s := l.socket.Load(); s != nil {
		l.logger.Info("listening", "socket", filepath.Clean(s.path))
	}
}

// WebAddress returns the address of the first listener for everything.
func (l *Listeners) WebAddress() string {
	if len(l.web.open) == 0 {
		return ""
	}
	return l.web.open[0].Addr().String()
}

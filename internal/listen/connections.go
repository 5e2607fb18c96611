package listen

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/connlimit"
	"github.com/vitals-health/vitals/internal/grpchealth"
	"github.com/vitals-health/vitals/internal/server/ownmetrics"
)

// door is a server with its listeners, whose connections are in one pool.
type door struct {
	// name is the value of the label listener.
	name   string
	server *http.Server
	pool   *connlimit.Pool
	// open are the listeners; none where nothing is to be served.
	open []net.Listener
}

// newListeners returns listeners without servers.
func newListeners(logger *slog.Logger, health *grpchealth.Server) *Listeners {
	l := &Listeners{logger: logger, health: health}
	l.web.name, l.probe.name, l.grpc.name, l.local.name = "web", "probe", "grpc", "unix"
	return l
}

func (l *Listeners) doors() []*door { return []*door{&l.web, &l.probe, &l.grpc, &l.local} }

// listen opens a listener at the address of a flag.
func (d *door) listen(address, flag string) error {
	ln, err := net.Listen("tcp", address)
	switch {
	case err != nil && !config.IsListenAddress(address):
		return fmt.Errorf("listen on %s: expected :PORT or HOST:PORT, with a port up to 65535", address)
	case err != nil:
		return inUse(address, flag, err)
	}
	d.open = append(d.open, ln)
	return nil
}

// limited returns the listeners, with their connections in the pool.
func (d *door) limited() []net.Listener {
	var all []net.Listener
	for _, ln := range d.open {
		all = append(all, d.pool.Listen(ln))
	}
	return all
}

// limit gives each server a pool for its connections.
func (l *Listeners) limit(o Options) error {
	open := 1
	for _, given := range []bool{o.ProbeAddress != "", o.GRPCAddress != "", o.Socket.Path != ""} {
		if given {
			open++
		}
	}
	limits, err := connlimit.LimitsOf(open, o.Memory)
	if err != nil {
		return err
	}
	l.logger.Debug("connections of each listener are limited", "served", limits.Served, "waiting", limits.Waiting)
	l.pool(limits)
	return nil
}

// pool makes the pools of the servers.
func (l *Listeners) pool(limits connlimit.Limits) {
	doors := l.doors()
	for i, pool := range connlimit.New(len(doors), limits) {
		doors[i].pool, doors[i].server.ConnState = pool, pool.Track
	}
}

// Connections returns the numbers of connections, of the listeners that are open.
func (l *Listeners) Connections() []ownmetrics.Connections {
	if l == nil {
		return nil
	}
	var all []ownmetrics.Connections
	for _, d := range l.doors() {
		if len(d.open) > 0 || d == &l.local && l.socket.Load() != nil {
			open, evicted := d.pool.Counts()
			all = append(all, ownmetrics.Connections{Listener: d.name, Open: open, Evicted: evicted})
		}
	}
	return all
}

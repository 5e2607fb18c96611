package main

import (
	"os"
	"os/signal"
	"syscall"
)

// signals are the signals that the daemon obeys. Each purpose has a channel of its own with
// room for one signal, so any number of SIGHUPs leaves room for SIGTERM.
type signals struct {
	// stop gets SIGTERM and SIGINT, reload gets SIGHUP.
	stop, reload chan os.Signal
}

// notifySignals begins to catch the signals, until end is called.
func notifySignals() signals {
	s := signals{stop: make(chan os.Signal, 1), reload: make(chan os.Signal, 1)}
	signal.Notify(s.stop, syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(s.reload, syscall.SIGHUP)
	return s
}

func (s signals) end() {
	signal.Stop(s.stop)
	signal.Stop(s.reload)
}

//go:build e2e

// Command service is the workload of a pod: it answers on port 5000, until POST /break
// makes it fail for the rest of its life. Where Vitals shares its socket, it reports as the
// component "worker", and a broken one does not. POST /finish ends it with code 0. On SIGTERM it
// answers for a while; a broken one ends at once, with code 1.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	socket = "/run/vitals/vitals.sock"
	// drain is longer than a period of the examples' readiness probes, and shorter than the time
	// that the kubelet gives a pod.
	drain = 15 * time.Second
)

// report reports the component every second, until it is broken. Vitals may be away, or expect no
// such component.
func report(broken *atomic.Bool) {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{
		MaxResponseHeaderBytes: 64 << 10,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range tick.C {
		if broken.Load() {
			return
		}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPut, "http://vitals/api/v1/components/worker", strings.NewReader(`{"alive":true,"ready":true}`))
		if err != nil {
			panic(err)
		}
		if res, err := client.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}
}

func main() {
	var broken atomic.Bool
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		if broken.Load() {
			os.Exit(1)
		}
		<-time.After(drain)
		os.Exit(0)
	}()
	if _, err := os.Stat("/run/vitals"); err == nil {
		go report(&broken)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /break", func(http.ResponseWriter, *http.Request) { broken.Store(true) })
	mux.HandleFunc("POST /finish", func(http.ResponseWriter, *http.Request) { time.AfterFunc(time.Second, func() { os.Exit(0) }) })
	server := http.Server{Addr: ":5000", Handler: mux, ReadHeaderTimeout: time.Second}
	fmt.Fprintln(os.Stderr, "service:", server.ListenAndServe())
	os.Exit(1)
}

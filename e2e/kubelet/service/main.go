//go:build e2e

// Command service is the workload of a pod: it answers on port 5000, until POST /break
// makes it fail for the rest of its life.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

func main() {
	var broken atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /break", func(http.ResponseWriter, *http.Request) { broken.Store(true) })
	server := http.Server{Addr: ":5000", Handler: mux, ReadHeaderTimeout: time.Second}
	fmt.Fprintln(os.Stderr, "service:", server.ListenAndServe())
	os.Exit(1)
}

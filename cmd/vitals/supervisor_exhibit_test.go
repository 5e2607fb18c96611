package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/supervisor"
)

// exhibitSupervisor is a supervisord that answers as a real one did.
func exhibitSupervisor(t *testing.T) *supervisor.Config {
	t.Helper()
	dir := collectortest.Dir(t)
	socket := filepath.Join(dir, "s.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(docsRoot, "collectors/supervisor/testdata/programs.xml"))
	})}}
	server.Start()
	t.Cleanup(server.Close)
	return &supervisor.Config{Socket: socket, Programs: []string{"start"}, Critical: []string{"program:running"}, Limit: 200}
}

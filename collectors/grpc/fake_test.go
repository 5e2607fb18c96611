package grpc_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/grpc"
)

// Frames of HealthCheckResponse.
const (
	frameUnknown    = "\x00\x00\x00\x00\x00"
	frameServing    = "\x00\x00\x00\x00\x02\x08\x01"
	frameNotServing = "\x00\x00\x00\x00\x02\x08\x02"
	frameNoService  = "\x00\x00\x00\x00\x02\x08\x03"
)

// respond answers a call with a body and a status in the trailers; message may be empty.
func respond(body, status, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		_, _ = io.WriteString(w, body)
		w.Header().Set("Grpc-Status", status)
		w.Header().Set("Grpc-Message", message)
	}
}

// fail answers with headers alone, as gRPC servers do for a call that fails at once.
func fail(status, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", status)
		w.Header().Set("Grpc-Message", message)
	}
}

// serve runs an HTTP/2 server, with TLS if there are settings, and returns its address.
func serve(t testing.TB, listener net.Listener, settings *tls.Config, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	if listener != nil {
		_ = server.Listener.Close()
		server.Listener = listener
	}
	server.Config.Protocols = new(http.Protocols)
	t.Cleanup(server.Close)
	if settings == nil {
		server.Config.Protocols.SetUnencryptedHTTP2(true)
		server.Start()
	} else {
		server.Config.Protocols.SetHTTP2(true)
		server.TLS = settings
		server.TLS.NextProtos = []string{"h2"}
		server.StartTLS()
	}
	if listener != nil && listener.Addr().Network() == "unix" {
		return "unix:" + listener.Addr().String()
	}
	return server.Listener.Addr().String()
}

func unixListener(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(collectortest.Dir(t), "grpc.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// newCollector makes a collector named d of an address and more keys.
func newCollector(t testing.TB, address, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "d", "{address: '"+address+"'"+more+"}", &grpc.Config{})
}

// status returns the serving status whose series is 1, "" for none.
func status(samples []collectors.Sample) string {
	return collectortest.One(samples, "vitals_grpc_serving_status", "status")
}

func value(samples []collectors.Sample, metric string) (float64, bool) {
	return collectortest.Value(samples, "vitals_"+metric+`{dependency="d"}`)
}

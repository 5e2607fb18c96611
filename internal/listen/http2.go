package listen

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"gopkg.in/yaml.v3"
)

// Bounds of HTTP/2, which gRPC needs. Each stream costs the memory of a request.
const (
	// maxStreams is the number of requests at a time on a connection: a client of gRPC has
	// one for each service that it watches, and a browser one or two for each page.
	maxStreams = 8
	// maxProbes is the same on the listener for probes. A prober has one request on a connection.
	maxProbes = 4
	// maxReceived is the smallest window that HTTP/2 has. Requests have at most 4 KiB.
	maxReceived = 64 << 10
	// pingAfter is how long a silent connection is kept before its client must answer a ping,
	// and writeLimit how long it may read nothing.
	pingAfter  = 30 * time.Second
	writeLimit = 30 * time.Second
)

// setProtocols has the servers speak HTTP/1.1, and HTTP/2 with TLS and without. The server for
// everything does not where a web configuration file turns HTTP/2 off.
func (l *Listeners) setProtocols(webConfig string) error {
	off, err := withoutHTTP2(webConfig)
	if err != nil {
		return err
	}
	for _, d := range l.doors() {
		s := d.server
		s.Protocols = new(http.Protocols)
		s.Protocols.SetHTTP1(true)
		if d == &l.web && off {
			continue
		}
		s.Protocols.SetHTTP2(true)
		s.Protocols.SetUnencryptedHTTP2(true)
		streams := maxStreams
		if d == &l.probe {
			streams = maxProbes
		}
		s.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams:          streams,
			MaxReceiveBufferPerConnection: maxReceived,
			MaxReceiveBufferPerStream:     maxReceived,
			SendPingTimeout:               pingAfter,
			WriteByteTimeout:              writeLimit,
		}
	}
	return nil
}

// withoutHTTP2 reports whether a web configuration file has http2: false. The exporter toolkit,
// which reads the file, cannot turn it off for a server that has its protocols set.
func withoutHTTP2(file string) (bool, error) {
	if file == "" {
		return false, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return false, fmt.Errorf("--web.config.file: %w", err)
	}
	var config struct {
		HTTP struct {
			HTTP2 *bool `yaml:"http2"`
		} `yaml:"http_server_config"`
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return false, fmt.Errorf("--web.config.file=%s: %w", file, err)
	}
	return config.HTTP.HTTP2 != nil && !*config.HTTP.HTTP2, nil
}

// notGRPC answers what is not gRPC on the listener for gRPC.
func notGRPC(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusUnsupportedMediaType)
	_, _ = w.Write([]byte("this port serves health checks over gRPC only: grpc.health.v1\n")) // the client may be gone
}

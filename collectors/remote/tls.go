package remote

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/vitals-health/vitals/collectors"
)

// ClientTLS is what a connection with TLS may need. Files are read again when they
// change. A nil one verifies by the system's certificates.
type ClientTLS struct {
	// CAFile holds the certificates to trust, in PEM; the system's where it is not set.
	CAFile string `yaml:"ca_file,omitempty"`
	// CertFile and KeyFile hold the client's own certificate and key, in PEM.
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
	// ServerName is the name in the server's certificate, where it is not the host's.
	ServerName         string `yaml:"server_name,omitempty"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify,omitempty"`
}

// Problems returns the mistakes of the block at path.
func (t *ClientTLS) Problems(path string) []collectors.Problem {
	if t == nil {
		return nil
	}
	var problems []collectors.Problem
	for _, f := range []struct{ key, file string }{{"ca_file", t.CAFile}, {"cert_file", t.CertFile}, {"key_file", t.KeyFile}} {
		if f.file != "" {
			problems = append(problems, PathProblem(path+"."+f.key, f.file)...)
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		problems = append(problems, collectors.Problem{Path: path, Text: "cert_file and key_file: expected both or none"})
	}
	return problems
}

// Trusted reads the certificates to trust as they are now; without a file, nothing.
func (t *ClientTLS) Trusted() ([]byte, error) {
	if t == nil || t.CAFile == "" {
		return nil, nil
	}
	return ReadClientFile(t.CAFile)
}

// Config makes the settings of a connection that trusts ca, which trusted has read. The
// client's own certificate is read at each connection.
func (t *ClientTLS) Config(ca []byte) (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if t == nil {
		return settings, nil
	}
	settings.ServerName = t.ServerName
	settings.InsecureSkipVerify = t.InsecureSkipVerify
	if t.CAFile != "" {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("%s: expected certificates in PEM", t.CAFile)
		}
	}
	if t.CertFile != "" {
		settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			if err != nil {
				return nil, collectors.Errorf(ReasonTLS, "load client certificate: %w", err)
			}
			return &cert, nil
		}
	}
	return settings, nil
}

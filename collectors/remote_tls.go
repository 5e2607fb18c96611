package collectors

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
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

func (t *ClientTLS) problems(path string) []Problem {
	if t == nil {
		return nil
	}
	var problems []Problem
	for _, f := range []struct{ key, file string }{{"ca_file", t.CAFile}, {"cert_file", t.CertFile}, {"key_file", t.KeyFile}} {
		if f.file != "" {
			problems = append(problems, pathProblem(path+"."+f.key, f.file)...)
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		problems = append(problems, Problem{path, "cert_file and key_file: expected both or none"})
	}
	return problems
}

// trusted reads the certificates to trust as they are now; without a file, nothing.
func (t *ClientTLS) trusted() ([]byte, error) {
	if t == nil || t.CAFile == "" {
		return nil, nil
	}
	return readClientFile(t.CAFile)
}

// config makes the settings of a connection that trusts ca, which trusted has read. The
// client's own certificate is read at each connection.
func (t *ClientTLS) config(ca []byte) (*tls.Config, error) {
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
				return nil, failed(ReasonTLS, "load client certificate: %w", err)
			}
			return &cert, nil
		}
	}
	return settings, nil
}

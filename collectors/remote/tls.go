package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/panics"
)

// ClientTLS is the configuration of TLS. Changed files are read again. A nil ClientTLS verifies
// with the system's certificates.
type ClientTLS struct {
	// CAFile has the trusted certificates in PEM. Without it, those of the system are used.
	CAFile string `yaml:"ca_file,omitempty"`
	// CertFile and KeyFile have the client's certificate and key in PEM.
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
	// ServerName is the name in the server's certificate, if it is not the host's name.
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

// Trusted reads the trusted certificates. It returns nil without a CAFile.
func (t *ClientTLS) Trusted() ([]byte, error) {
	if t == nil || t.CAFile == "" {
		return nil, nil
	}
	return ReadClientFile(t.CAFile)
}

// Config returns the settings of a connection that trusts ca, the result of Trusted. The
// client's certificate is read for each connection.
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
		settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (_ *tls.Certificate, err error) {
			defer panics.Into(&err)
			cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			if err != nil {
				return nil, collectors.Errorf(ReasonTLS, "load client certificate: %w", err)
			}
			return &cert, nil
		}
	}
	return settings, nil
}

// NameProblems returns the mistakes of the block at path, for TLS with a server at the address.
func (t *ClientTLS) NameProblems(path string, address Address) []collectors.Problem {
	if address.Socket == "" || t != nil && (t.ServerName != "" || t.InsecureSkipVerify) {
		return nil
	}
	return []collectors.Problem{{Path: path + ".server_name", Text: "no server_name: expected the name in the certificate, as a Unix socket has none"}}
}

// Client returns the settings of a handshake with the host, which trusts the certificates that the
// file has now. The handshake calls seen with the time at which the certificates expire.
func (t *ClientTLS) Client(host string, seen func(expiry time.Time)) (*tls.Config, error) {
	ca, err := t.Trusted()
	if err != nil {
		return nil, err
	}
	settings, err := t.Config(ca)
	if err != nil {
		return nil, err
	}
	if settings.ServerName == "" {
		settings.ServerName = host
	}
	settings.VerifyConnection = func(state tls.ConnectionState) (err error) {
		defer panics.Into(&err)
		seen(CertificateExpiry(&state))
		return nil
	}
	return settings, nil
}

// Secure makes the handshake. Its failure has the reason tls, unless the time ended.
func Secure(ctx context.Context, conn net.Conn, settings *tls.Config) (*tls.Conn, error) {
	secured := tls.Client(conn, settings)
	if err := secured.HandshakeContext(ctx); err != nil {
		reason := ReasonUntil(ctx, err)
		if reason == ReasonProtocol {
			reason = ReasonTLS
		}
		return nil, collectors.Errorf(reason, "tls handshake: %w", err)
	}
	return secured, nil
}

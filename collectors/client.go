package collectors

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/vitals-health/vitals/internal/redact"
)

// maxClientFile bounds certificates and secrets in bytes.
const maxClientFile = 1 << 20

// BasicAuth is a user name and where the password is. A nil one is none.
type BasicAuth struct {
	Username string `yaml:"username"`
	// PasswordFile is read at every request, without the white space around its content.
	PasswordFile string `yaml:"password_file"`
}

func (a *BasicAuth) problems(path string) []Problem {
	if a == nil {
		return nil
	}
	var problems []Problem
	if a.Username == "" {
		problems = append(problems, Problem{path + ".username", "no user name: expected one"})
	}
	return append(problems, pathProblem(path+".password_file", a.PasswordFile)...)
}

// set puts the credentials, as the file holds them now, into a request.
func (a *BasicAuth) set(req *http.Request) error {
	if a == nil {
		return nil
	}
	password, err := readClientFile(a.PasswordFile)
	if err != nil {
		return err
	}
	req.SetBasicAuth(a.Username, string(bytes.TrimSpace(password)))
	return nil
}

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

// localHost says whether a host's name or address means this host: loopback, and the
// unspecified address, which leads there.
func localHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.Unmap().IsLoopback() || addr.IsUnspecified())
}

func pathProblem(path, file string) []Problem {
	switch {
	case filepath.IsAbs(file):
		return nil
	case path == "body_file" || strings.HasPrefix(path, "header_files") || redact.Name(strings.TrimSuffix(path, "_file")):
		return []Problem{{path, "expected the absolute path of a file"}} // and got what may be the secret itself
	}
	return []Problem{{path, fmt.Sprintf("path %q: expected an absolute path", file)}}
}

// readClientFile reads a certificate or a secret. It waits for nobody: a FIFO may have no
// writer, and would hold its collector for ever.
func readClientFile(path string) ([]byte, error) {
	f, err := openWithoutWaiting(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: expected a regular file", path)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxClientFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case len(data) > maxClientFile:
		return nil, fmt.Errorf("read %s: it is larger than %s", path, Size(maxClientFile))
	}
	return data, nil
}

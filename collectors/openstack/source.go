package openstack

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

// login has the parameters of a login. It is immutable.
type login struct {
	options gophercloud.AuthOptions
	region  string
	side    gophercloud.Availability
	client  *http.Client
}

// source reads a login from clouds.yaml, the configuration or the environment, and detects changes
// of the files that it has read. It is safe for concurrent use.
type source struct {
	auth   Auth
	getenv func(string) string
	dial   dial
	// hide is that of Env.
	hide func(...string)

	mu     sync.Mutex // guards stamps
	stamps map[string]fileStamp
}

// fileStamp identifies a version of a file. The zero value is an absent file.
type fileStamp struct {
	modified time.Time
	size     int64
}

func stampOf(name string) fileStamp {
	info, err := os.Stat(name)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

// load reads the login and hides its secrets. Its errors contain none.
func (s *source) load() (*login, error) {
	login, err := s.read()
	if err == nil {
		s.hide(login.secrets()...)
	}
	return login, err
}

func (s *source) read() (*login, error) {
	auth := s.auth.fromEnvironment(s.getenv).withDefaults()
	if auth.Cloud == "" && auth.CloudsFile == "" && len(auth.identityKeys()) == 0 {
		return nil, errors.New("no credentials: expected the key cloud or auth_url, or the variable OS_CLOUD or OS_AUTH_URL")
	}
	if auth.Cloud == "" && auth.CloudsFile != "" {
		return nil, errors.New("no cloud named: expected the key cloud or the variable OS_CLOUD")
	}
	if problems := auth.problems(); len(problems) > 0 {
		return nil, errors.New(problems[0].Text)
	}
	if auth.Cloud != "" {
		return s.loadCloud(auth)
	}
	s.stamp(auth.CAFile, auth.CertFile, auth.KeyFile)
	config, err := tlsConfig(auth)
	if err != nil {
		return nil, err
	}
	side, _ := availability(auth.Interface)
	return newLogin(auth.options(), auth.Region, side, config, s.dial)
}

// newLogin checks that the options are complete. gophercloud finds a missing one only when it
// builds the request.
func newLogin(options gophercloud.AuthOptions, region string, side gophercloud.Availability, config *tls.Config, dial dial) (*login, error) {
	if text := authURLProblem(options.IdentityEndpoint); text != "" {
		return nil, errors.New(text)
	}
	if _, err := tokenRequest(options); err != nil {
		return nil, err
	}
	return &login{options, region, side, newClient(config, dial)}, nil
}

// tokenRequest returns the body of a request for a token.
func tokenRequest(options gophercloud.AuthOptions) (map[string]any, error) {
	scope, err := options.ToTokenV3ScopeMap()
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	body, err := options.ToTokenV3CreateMap(scope)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return body, nil
}

// stamp stores the versions of the files. It ignores empty names.
func (s *source) stamp(names ...string) {
	stamps := make(map[string]fileStamp)
	for _, name := range names {
		if name != "" {
			stamps[name] = stampOf(name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamps = stamps
}

// changed reports whether a file has changed since load read it.
func (s *source) changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, stamp := range s.stamps {
		if now := stampOf(name); now.size != stamp.size || !now.modified.Equal(stamp.modified) {
			return true
		}
	}
	return false
}

// usesFiles reports whether load has read a file, so that the next load may return another login.
func (s *source) usesFiles() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stamps) > 0
}

// tlsConfig returns the TLS settings of a block.
func tlsConfig(a Auth) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: a.Insecure} //nolint:gosec // The user's explicit choice.
	if a.CAFile != "" {
		pem, err := os.ReadFile(a.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file %s: expected certificates in PEM", a.CAFile)
		}
	}
	if a.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(a.CertFile, a.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cert_file and key_file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// secrets returns the values that must not appear in logs, metrics and errors.
func (l *login) secrets() []string {
	o := l.options
	return []string{o.Password, o.Passcode, o.TokenID, o.ApplicationCredentialSecret}
}

// keystone returns the URL of Keystone's API v3, with a slash at its end.
func (l *login) keystone() string {
	return identityEndpoint(strings.TrimSpace(l.options.IdentityEndpoint))
}

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

// login is all that a login needs. It is immutable.
type login struct {
	options gophercloud.AuthOptions
	region  string
	side    gophercloud.Availability
	client  *http.Client
}

// source reads a login from clouds.yaml, from the configuration or from
// the environment, and notices when a file that it was read from has changed. It
// is safe for concurrent use.
type source struct {
	auth   Auth
	getenv func(string) string
	dial   dial

	mu     sync.Mutex // guards what follows
	stamps map[string]credentialStamp
}

// credentialStamp tells two versions of a file apart; the zero value is a file that is absent.
type credentialStamp struct {
	modified time.Time
	size     int64
}

func stampOf(name string) credentialStamp {
	info, err := os.Stat(name)
	if err != nil {
		return credentialStamp{}
	}
	return credentialStamp{info.ModTime(), info.Size()}
}

// load reads the login. Its errors hold no secrets.
func (s *source) load() (*login, error) {
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
	s.watch(auth.CAFile, auth.CertFile, auth.KeyFile)
	config, err := openStackTLS(auth)
	if err != nil {
		return nil, err
	}
	side, _ := availability(auth.Interface)
	return newOpenStackLogin(auth.options(), auth.Region, side, config, s.dial)
}

// newOpenStackLogin checks that options can be sent to Keystone at all: gophercloud
// finds what is missing only when it builds the request.
func newOpenStackLogin(options gophercloud.AuthOptions, region string, side gophercloud.Availability, config *tls.Config, dial dial) (*login, error) {
	if text := authURLProblem(options.IdentityEndpoint); text != "" {
		return nil, errors.New(text)
	}
	if _, err := tokenRequest(options); err != nil {
		return nil, err
	}
	return &login{options, region, side, newOpenStackClient(config, dial)}, nil
}

// tokenRequest is the body with which Keystone is asked for a token.
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

// watch remembers how the files are now. Empty names are left out.
func (s *source) watch(names ...string) {
	stamps := make(map[string]credentialStamp)
	for _, name := range names {
		if name != "" {
			stamps[name] = stampOf(name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamps = stamps
}

// changed says whether a file is no longer what it was when load read it.
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

// files says whether the login was read from any file, so that reading it again
// may give another one.
func (s *source) files() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stamps) > 0
}

// openStackTLS returns what the TLS keys of a block ask for.
func openStackTLS(a Auth) (*tls.Config, error) {
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

// secrets returns what may appear in no log, metric or error.
func (l *login) secrets() []string {
	o := l.options
	return []string{o.Password, o.Passcode, o.TokenID, o.ApplicationCredentialSecret}
}

// keystone is the address of Keystone's API v3, with a slash at its end.
func (l *login) keystone() string {
	return identityEndpoint(strings.TrimSpace(l.options.IdentityEndpoint))
}

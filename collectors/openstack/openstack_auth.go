// Package openstack measures Keystone and Neutron. Its two kinds, keystone and neutron, can share
// a token.
package openstack

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// defaultReauthenticate is how long a token is held before a new one is asked for:
// 288 tokens a day where one for each check every 10 s would be 8,640.
const defaultReauthenticate = 5 * time.Minute

// Auth says who logs in, where, and how the cloud's services are reached.
// It is a part of the configuration of every kind that talks to OpenStack.
//
// There are three sources: a cloud of clouds.yaml, the keys here, or, where
// neither is given, the environment (OS_CLOUD, else OS_AUTH_URL and the others).
type Auth struct {
	// Cloud names an entry of clouds.yaml; secure.yaml beside it is read as well.
	Cloud string `yaml:"cloud,omitempty"`
	// CloudsFile is the clouds.yaml to read. Empty means OS_CLIENT_CONFIG_FILE or
	// the usual places: the working directory, ~/.config/openstack, /etc/openstack.
	CloudsFile string `yaml:"clouds_file,omitempty"`

	// AuthURL is Keystone's address, with or without its version.
	AuthURL           string            `yaml:"auth_url,omitempty"`
	Username          string            `yaml:"username,omitempty"`
	UserID            string            `yaml:"user_id,omitempty"`
	UserDomainName    string            `yaml:"user_domain_name,omitempty"`
	UserDomainID      string            `yaml:"user_domain_id,omitempty"`
	Password          collectors.Secret `yaml:"password,omitempty"`
	ProjectName       string            `yaml:"project_name,omitempty"`
	ProjectID         string            `yaml:"project_id,omitempty"`
	ProjectDomainName string            `yaml:"project_domain_name,omitempty"`
	ProjectDomainID   string            `yaml:"project_domain_id,omitempty"`

	ApplicationCredentialID     string            `yaml:"application_credential_id,omitempty"`
	ApplicationCredentialName   string            `yaml:"application_credential_name,omitempty"`
	ApplicationCredentialSecret collectors.Secret `yaml:"application_credential_secret,omitempty"`

	// Region chooses among the catalog's endpoints; empty means any region.
	Region string `yaml:"region,omitempty"`
	// Interface chooses among them too: public, internal or admin; empty means public.
	Interface string `yaml:"interface,omitempty"`
	// CAFile holds the certificates, in PEM, that servers are checked against.
	CAFile string `yaml:"ca_file,omitempty"`
	// CertFile and KeyFile are the client's certificate and its key, in PEM.
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
	// Insecure accepts any server certificate.
	Insecure bool `yaml:"insecure,omitempty"`

	// Reauthenticate is the age at which a token is replaced by a new
	// authentication, whether it still works or not.
	Reauthenticate model.Duration `yaml:"reauthenticate,omitempty"`
}

// SetDefaults sets what a block has before it is decoded.
func (a *Auth) SetDefaults() {
	a.Reauthenticate = model.Duration(defaultReauthenticate)
}

// String says nothing of what is in the block. Package fmt calls it where the block
// is a field of what is printed; with some verbs a Secret inside would show itself.
func (a Auth) String() string { return "<credentials>" }

// identityKeys returns the keys that are set and say who logs in, and where.
func (a *Auth) identityKeys() []string {
	var keys []string
	for _, f := range []struct{ key, value string }{
		{"auth_url", a.AuthURL},
		{"username", a.Username},
		{"user_id", a.UserID},
		{"user_domain_name", a.UserDomainName},
		{"user_domain_id", a.UserDomainID},
		{"password", a.Password.Value()},
		{"project_name", a.ProjectName},
		{"project_id", a.ProjectID},
		{"project_domain_name", a.ProjectDomainName},
		{"project_domain_id", a.ProjectDomainID},
		{"application_credential_id", a.ApplicationCredentialID},
		{"application_credential_name", a.ApplicationCredentialName},
		{"application_credential_secret", a.ApplicationCredentialSecret.Value()},
	} {
		if f.value != "" {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// problems returns every mistake that can be seen without reading a file or the
// environment.
func (a *Auth) problems() []collectors.Problem {
	var problems []collectors.Problem
	keys := a.identityKeys()
	switch {
	case a.Cloud != "" || a.CloudsFile != "":
		for _, key := range keys {
			problems = append(problems, collectors.Problem{Path: key, Text: key + " beside a cloud of clouds.yaml: expected one of the two"})
		}
	case len(keys) > 0:
		problems = append(a.urlProblems(), a.userProblems()...)
		problems = append(problems, a.projectProblems()...)
	}
	if (a.CertFile == "") != (a.KeyFile == "") {
		problems = append(problems, collectors.Problem{Path: "cert_file", Text: "cert_file and key_file: expected both or neither"})
	}
	if _, ok := availability(a.Interface); !ok {
		problems = append(problems, collectors.Problem{Path: "interface", Text: fmt.Sprintf("interface %q: expected public, internal or admin", a.Interface)})
	}
	if a.Reauthenticate <= 0 {
		problems = append(problems, collectors.Problem{Path: "reauthenticate", Text: fmt.Sprintf("reauthenticate %s: expected more than 0s", a.Reauthenticate)})
	}
	return problems
}

func (a *Auth) urlProblems() []collectors.Problem {
	if text := authURLProblem(a.AuthURL); text != "" {
		return []collectors.Problem{{Path: "auth_url", Text: text}}
	}
	return nil
}

func (a *Auth) userProblems() []collectors.Problem {
	if a.ApplicationCredentialID != "" || a.ApplicationCredentialName != "" || a.ApplicationCredentialSecret != "" {
		return a.applicationCredentialProblems()
	}
	problems := a.namedUserProblems()
	if a.Password == "" {
		problems = append(problems, collectors.Problem{Path: "password", Text: "no password: expected password, or application_credential_id and application_credential_secret"})
	}
	return problems
}

// namedUserProblems checks that exactly one user is named, with a domain if it is
// named by its name.
func (a *Auth) namedUserProblems() []collectors.Problem {
	var problems []collectors.Problem
	if (a.Username == "") == (a.UserID == "") {
		problems = append(problems, collectors.Problem{Path: "username", Text: "username and user_id: expected exactly one of them"})
	}
	if a.Username != "" && (a.UserDomainName == "") == (a.UserDomainID == "") {
		problems = append(problems, collectors.Problem{Path: "user_domain_name", Text: "username without its domain: expected exactly one of user_domain_name and user_domain_id"})
	}
	if a.UserID != "" && a.UserDomainName+a.UserDomainID != "" {
		problems = append(problems, collectors.Problem{Path: "user_domain_name", Text: "user_id with a domain: expected the id alone, it is unique"})
	}
	return problems
}

func (a *Auth) applicationCredentialProblems() []collectors.Problem {
	var problems []collectors.Problem
	if a.ApplicationCredentialSecret == "" {
		problems = append(problems, collectors.Problem{Path: "application_credential_secret", Text: "no application_credential_secret: expected one beside the application credential"})
	}
	if (a.ApplicationCredentialID == "") == (a.ApplicationCredentialName == "") {
		problems = append(problems, collectors.Problem{Path: "application_credential_id", Text: "application_credential_id and application_credential_name: expected exactly one of them"})
	}
	if a.Password != "" {
		problems = append(problems, collectors.Problem{Path: "password", Text: "password beside an application credential: expected one of the two"})
	}
	if a.ApplicationCredentialName != "" {
		problems = append(problems, a.namedUserProblems()...)
	}
	return problems
}

func (a *Auth) projectProblems() []collectors.Problem {
	switch {
	case a.ProjectName != "" && a.ProjectID != "":
		return []collectors.Problem{{Path: "project_name", Text: "project_name and project_id: expected at most one of them"}}
	case a.ProjectName != "" && (a.ProjectDomainName == "") == (a.ProjectDomainID == ""):
		return []collectors.Problem{{Path: "project_domain_name", Text: "project_name without its domain: expected exactly one of project_domain_name and project_domain_id"}}
	case a.ProjectName == "" && a.ProjectDomainName+a.ProjectDomainID != "":
		return []collectors.Problem{{Path: "project_domain_name", Text: "a project domain without project_name: expected both or neither"}}
	}
	return nil
}

// options returns the login that the keys describe. The scope is set even when it
// is empty: gophercloud would otherwise take the user's domain for the project's.
func (a *Auth) options() gophercloud.AuthOptions {
	return gophercloud.AuthOptions{
		IdentityEndpoint:            a.AuthURL,
		Username:                    a.Username,
		UserID:                      a.UserID,
		Password:                    a.Password.Value(),
		DomainName:                  a.UserDomainName,
		DomainID:                    a.UserDomainID,
		ApplicationCredentialID:     a.ApplicationCredentialID,
		ApplicationCredentialName:   a.ApplicationCredentialName,
		ApplicationCredentialSecret: a.ApplicationCredentialSecret.Value(),
		Scope: &gophercloud.AuthScope{
			ProjectName: a.ProjectName,
			ProjectID:   a.ProjectID,
			DomainName:  a.ProjectDomainName,
			DomainID:    a.ProjectDomainID,
		},
	}
}

// availability translates the name of an interface; the forms that end in URL are
// those of older clouds.yaml files and of OS_ENDPOINT_TYPE.
func availability(name string) (gophercloud.Availability, bool) {
	if name == "" {
		return gophercloud.AvailabilityPublic, true
	}
	a := gophercloud.Availability(strings.TrimSuffix(name, "URL"))
	known := []gophercloud.Availability{gophercloud.AvailabilityPublic, gophercloud.AvailabilityInternal, gophercloud.AvailabilityAdmin}
	return a, slices.Contains(known, a)
}

// authURLProblem says what is wrong with Keystone's address, or "". The address
// itself is not repeated: it may hold a password.
func authURLProblem(text string) string {
	const expected = "expected the address of Keystone, as in https://cloud.example:5000/v3"
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "no auth_url: " + expected
	case err != nil:
		return "auth_url is not a URL: " + expected
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Sprintf("auth_url has the scheme %q: expected http or https", u.Scheme)
	case u.Host == "":
		return "auth_url has no host: " + expected
	case u.User != nil:
		return "auth_url holds a user or a password: expected them in username and password"
	case remote.InvalidPort(u):
		return fmt.Sprintf("auth_url has the port %s: expected 1 to 65535", u.Port())
	case u.RawQuery != "" || u.Fragment != "":
		return "auth_url has a query or a fragment: " + expected
	}
	return ""
}

// identityEndpoint returns the address of Keystone's API v3, with a slash at its
// end. A version at the end of the URL is replaced, and a missing one is added:
// version discovery would cost a call, and follow links that installations behind
// a proxy often publish wrongly.
func identityEndpoint(authURL string) string {
	u, err := url.Parse(authURL)
	if err != nil {
		return authURL // The request says what is wrong with it.
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if last := path.Base(u.Path); apiVersion.MatchString(last) {
		u.Path = strings.TrimSuffix(u.Path, last)
	}
	return u.JoinPath("v3/").String()
}

var apiVersion = regexp.MustCompile(`^v[0-9]+(\.[0-9]+)?$`)

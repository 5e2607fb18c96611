// Package openstack measures Keystone, Neutron and the other services of the catalog. Its kinds,
// keystone, neutron and openstack, can share a token.
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

// defaultReauthenticate is the age at which a token is replaced. It leads to 288 tokens a day; a
// token for each collection every 10 s would be 8,640.
const defaultReauthenticate = 5 * time.Minute

// Auth is the part of the configuration that the kinds share: the credentials, Keystone's URL, and
// how to connect to services.
//
// It has three sources: a cloud in clouds.yaml, the keys here, or without both the environment
// (OS_CLOUD, else OS_AUTH_URL and related variables).
type Auth struct {
	// Cloud is an entry of clouds.yaml. The secure.yaml in the same folder is read, too.
	Cloud string `yaml:"cloud,omitempty"`
	// CloudsFile is the clouds.yaml to read. Empty means OS_CLIENT_CONFIG_FILE, or the search
	// path: the working directory, ~/.config/openstack, /etc/openstack.
	CloudsFile string `yaml:"clouds_file,omitempty"`

	// AuthURL is Keystone's URL, with or without the version of the API.
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

	// Region selects endpoints of the catalog; empty means any region.
	Region string `yaml:"region,omitempty"`
	// Interface selects endpoints: public, internal or admin; empty means public.
	Interface string `yaml:"interface,omitempty"`
	// CAFile has the trusted certificates, in PEM.
	CAFile string `yaml:"ca_file,omitempty"`
	// CertFile and KeyFile have the client's certificate and its key, in PEM.
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
	// Insecure accepts any server certificate.
	Insecure bool `yaml:"insecure,omitempty"`

	// Reauthenticate is the age at which a token is replaced, even if it is valid.
	Reauthenticate model.Duration `yaml:"reauthenticate,omitempty"`
}

// SetDefaults sets the defaults, before the block is decoded.
func (a *Auth) SetDefaults() {
	a.Reauthenticate = model.Duration(defaultReauthenticate)
}

// String returns a placeholder. Package fmt calls it if a printed value has the block as a field;
// some verbs would otherwise print the value of a Secret.
func (a Auth) String() string { return "<credentials>" }

// identityKeys returns the keys of the credentials and of Keystone's URL that are set.
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

// problems returns every mistake that can be found without files and the environment.
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

// namedUserProblems checks that the block has either a user name with a domain, or a user id.
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

// options returns the options of the login. It sets an empty scope, too, because gophercloud would
// otherwise use the user's domain for the project.
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

// availability returns the interface with this name. The names that end in URL are those of older
// clouds.yaml files and of OS_ENDPOINT_TYPE.
func availability(name string) (gophercloud.Availability, bool) {
	if name == "" {
		return gophercloud.AvailabilityPublic, true
	}
	a := gophercloud.Availability(strings.TrimSuffix(name, "URL"))
	known := []gophercloud.Availability{gophercloud.AvailabilityPublic, gophercloud.AvailabilityInternal, gophercloud.AvailabilityAdmin}
	return a, slices.Contains(known, a)
}

// authURLProblem returns the mistake in Keystone's URL, or "". It does not quote the URL, which may
// contain a password.
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
		return "auth_url contains a user or a password: expected them in username and password"
	case remote.InvalidPort(u):
		return fmt.Sprintf("auth_url has the port %s: expected 1 to 65535", u.Port())
	case u.RawQuery != "" || u.Fragment != "":
		return "auth_url has a query or a fragment: " + expected
	}
	return ""
}

// identityEndpoint returns the URL of Keystone's API v3, with a slash at its end. It replaces another
// version and adds a missing one. Version discovery would cost a request, and its links are often
// wrong for installations behind a proxy.
func identityEndpoint(authURL string) string {
	u, err := url.Parse(authURL)
	if err != nil {
		return authURL // the request fails with the error
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if last := path.Base(u.Path); apiVersion.MatchString(last) {
		u.Path = strings.TrimSuffix(u.Path, last)
	}
	return u.JoinPath("v3/").String()
}

var apiVersion = regexp.MustCompile(`^v[0-9]+(\.[0-9]+)?$`)

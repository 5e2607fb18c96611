package remote

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// BasicAuth is a user name and the path of the password. A nil BasicAuth sends no credentials.
type BasicAuth struct {
	Username string `yaml:"username"`
	// PasswordFile is read for every request. White space around the password is removed.
	PasswordFile string `yaml:"password_file"`
}

// Problems returns the mistakes of the block at path.
func (a *BasicAuth) Problems(path string) []collectors.Problem {
	if a == nil {
		return nil
	}
	var problems []collectors.Problem
	if a.Username == "" {
		problems = append(problems, collectors.Problem{Path: path + ".username", Text: "no user name: expected one"})
	}
	return append(problems, PathProblem(path+".password_file", a.PasswordFile)...)
}

// Set reads the password and adds the credentials to a request.
func (a *BasicAuth) Set(req *http.Request) error {
	if a == nil {
		return nil
	}
	password, err := ReadClientFile(a.PasswordFile)
	if err != nil {
		return err
	}
	req.SetBasicAuth(a.Username, string(bytes.TrimSpace(password)))
	return nil
}

// Authorize adds the credentials of the keys basic_auth and bearer_token_file to a request, as the
// files hold them now. It returns the secrets in the request's credentials, also in those that the
// request had before.
func Authorize(req *http.Request, basic *BasicAuth, bearerTokenFile string) (secrets []string, err error) {
	if bearerTokenFile != "" {
		token, err := ReadClientFile(bearerTokenFile)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+string(bytes.TrimSpace(token)))
	}
	if err := basic.Set(req); err != nil {
		return nil, err
	}
	if scheme, credentials, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok && scheme != "" {
		secrets = append(secrets, credentials)
	}
	if _, password, ok := req.BasicAuth(); ok {
		secrets = append(secrets, password)
	}
	return secrets, nil
}

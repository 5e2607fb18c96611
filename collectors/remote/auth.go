package remote

import (
	"bytes"
	"net/http"

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

package remote

import (
	"bytes"
	"net/http"

	"github.com/vitals-health/vitals/collectors"
)

// BasicAuth is a user name and where the password is. A nil one is none.
type BasicAuth struct {
	Username string `yaml:"username"`
	// PasswordFile is read at every request, without the white space around its content.
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

// Set puts the credentials, as the file holds them now, into a request.
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

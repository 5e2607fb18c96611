package collectors

import (
	"bytes"
	"net/http"
)

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

package http

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// token matches the name of a header (RFC 9110, section 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// control matches what a header's value must not contain (RFC 9110, section 5.5).
var control = regexp.MustCompile(`[\x00-\x08\x0a-\x1f\x7f]`)

// headerProblems returns the mistakes in the headers of the request.
func (c *Config) headerProblems() []collectors.Problem {
	var problems []collectors.Problem
	seen := map[string]string{}
	if c.BasicAuth != nil || c.BearerTokenFile != "" {
		seen["Authorization"] = "basic_auth or bearer_token_file"
	}
	name := func(path, key, name string) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !token.MatchString(name):
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("header %q: expected the name of a header", name)})
		case canonical == "Content-Length" || canonical == "Transfer-Encoding" || canonical == "User-Agent" || canonical == "Connection":
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("header %s: expected none that Vitals sets itself (see the key user_agent)", canonical)})
		case key == "headers" && secretHeader(canonical):
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("header %s contains a secret: expected it in header_files", canonical)})
		case seen[canonical] != "":
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("header %s is in %s already: expected it once", canonical, seen[canonical])})
		}
		seen[canonical] = key
	}
	if control.MatchString(c.UserAgent) {
		problems = append(problems, collectors.Problem{Path: "user_agent", Text: "expected a value without control characters"})
	}
	for _, header := range slices.Sorted(maps.Keys(c.Headers)) {
		path := fmt.Sprintf("headers[%q]", header)
		name(path, "headers", header)
		if control.MatchString(c.Headers[header]) {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("header %q: expected a value without control characters", header)})
		}
	}
	for _, header := range slices.Sorted(maps.Keys(c.HeaderFiles)) {
		path := fmt.Sprintf("header_files[%q]", header)
		name(path, "header_files", header)
		problems = append(problems, remote.SecretPathProblem(path, c.HeaderFiles[header])...)
	}
	return problems
}

// secretHeader reports whether the value of a header is a secret, which must not be in the
// configuration.
func secretHeader(canonical string) bool {
	return slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie", "X-Auth-Token"}, canonical)
}

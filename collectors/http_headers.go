package collectors

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
)

// httpToken is what names a header (RFC 9110, section 5.6.2).
var httpToken = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// httpControl is what a header's value must not hold (RFC 9110, section 5.5).
var httpControl = regexp.MustCompile(`[\x00-\x08\x0a-\x1f\x7f]`)

// headerProblems are mistakes in the headers of the request.
func (c *HTTPConfig) headerProblems() []Problem {
	var problems []Problem
	seen := map[string]string{}
	if c.BasicAuth != nil || c.BearerTokenFile != "" {
		seen["Authorization"] = "basic_auth or bearer_token_file"
	}
	name := func(path, key, name string) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpToken.MatchString(name):
			problems = append(problems, Problem{path, fmt.Sprintf("header %q: expected the name of a header", name)})
		case canonical == "Content-Length" || canonical == "Transfer-Encoding" || canonical == "User-Agent" || canonical == "Connection":
			problems = append(problems, Problem{path, fmt.Sprintf("header %s: expected none that the request has anyway (user_agent is a key)", canonical)})
		case key == "headers" && secretHeader(canonical):
			problems = append(problems, Problem{path, fmt.Sprintf("header %s holds a secret: expected it in header_files", canonical)})
		case seen[canonical] != "":
			problems = append(problems, Problem{path, fmt.Sprintf("header %s is in %s already: expected it once", canonical, seen[canonical])})
		}
		seen[canonical] = key
	}
	if httpControl.MatchString(c.UserAgent) {
		problems = append(problems, Problem{"user_agent", "expected a value without control characters"})
	}
	for _, header := range slices.Sorted(maps.Keys(c.Headers)) {
		path := fmt.Sprintf("headers[%q]", header)
		name(path, "headers", header)
		if httpControl.MatchString(c.Headers[header]) {
			problems = append(problems, Problem{path, fmt.Sprintf("header %q: expected a value without control characters", header)})
		}
	}
	for _, header := range slices.Sorted(maps.Keys(c.HeaderFiles)) {
		path := fmt.Sprintf("header_files[%q]", header)
		name(path, "header_files", header)
		problems = append(problems, pathProblem(path, c.HeaderFiles[header])...)
	}
	return problems
}

// secretHeader says whether a header is there to carry a secret. The configuration is
// shown, so it has no such value in it.
func secretHeader(canonical string) bool {
	return slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie", "X-Auth-Token"}, canonical)
}

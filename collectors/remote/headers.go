package remote

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/redact"
)

// MaxHeader bounds the headers of a response in bytes. The default of net/http is 10 MiB.
const MaxHeader = 64 << 10

// token matches the name of a header (RFC 9110, section 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// control matches what a header's value must not contain (RFC 9110, section 5.5).
var control = regexp.MustCompile(`[\x00-\x08\x0a-\x1f\x7f]`)

// Headers are the headers of a request in the keys headers and header_files: values, and files
// with secret values.
type Headers struct{ Values, Files map[string]string }

// Problems returns the mistakes of the keys. authorized reports whether other keys have
// credentials.
func (h Headers) Problems(authorized bool) []collectors.Problem {
	var problems []collectors.Problem
	seen := map[string]string{}
	if authorized {
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
	for _, header := range slices.Sorted(maps.Keys(h.Values)) {
		path := fmt.Sprintf("headers[%q]", header)
		name(path, "headers", header)
		if InvalidHeader(h.Values[header]) {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("header %q: expected a value without control characters", header)})
		}
	}
	for _, header := range slices.Sorted(maps.Keys(h.Files)) {
		path := fmt.Sprintf("header_files[%q]", header)
		name(path, "header_files", header)
		problems = append(problems, SecretPathProblem(path, h.Files[header])...)
	}
	return problems
}

// InvalidHeader reports whether the value of a header has control characters.
func InvalidHeader(value string) bool { return control.MatchString(value) }

// secretHeader reports whether the value of a header is a secret, which must not be in the
// configuration.
func secretHeader(canonical string) bool {
	return slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie", "X-Auth-Token"}, canonical)
}

// Set adds the headers to a request, with what the files hold now. It returns the secrets in
// them, and calls hide, that of Env, with those of the files.
func (h Headers) Set(req *http.Request, hide func(...string)) (secrets []string, err error) {
	for name, value := range h.Values {
		setHeader(req, name, value)
		secrets = append(secrets, redact.Secrets(name+": "+value)...)
	}
	for name, file := range h.Files {
		value, err := ReadClientFile(file)
		if err != nil {
			return secrets, collectors.Errorf(ReasonAuth, "read header %s: %w", name, err)
		}
		text := string(bytes.TrimSpace(value))
		if InvalidHeader(text) {
			return secrets, collectors.Errorf(ReasonAuth, "read header %s: %s: expected one line", name, file)
		}
		setHeader(req, name, text)
		secrets = append(secrets, text)
		hide(text)
	}
	return secrets, nil
}

// setHeader sets a header; net/http keeps the host elsewhere.
func setHeader(req *http.Request, name, value string) {
	if http.CanonicalHeaderKey(name) == "Host" {
		req.Host = value
		return
	}
	req.Header.Set(name, value)
}

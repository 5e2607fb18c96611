package http

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/internal/redact"
)

// Expect are the expectations of an answer except its status. A regular expression may match
// anywhere; only ^ and $ anchor it. A nil Expect expects nothing.
type Expect struct {
	// Headers must match. With several values, one must match.
	Headers map[string]string `yaml:"headers,omitempty"`
	// HeadersNot must not match, in any value.
	HeadersNot map[string]string `yaml:"headers_not,omitempty"`
	// Body must match, BodyNot must not.
	Body    string `yaml:"body,omitempty"`
	BodyNot string `yaml:"body_not,omitempty"`
	// JSON maps paths into the body, see file.ParseKey, to the expected values: strings,
	// numbers, booleans or null.
	JSON map[string]any `yaml:"json,omitempty"`
	// Observe only measures whether they are met: an answer that differs is no failure. Of an
	// answer whose status is not expected, nothing else is measured.
	Observe bool `yaml:"observe,omitempty"`
}

func (e *Expect) problems(path, method string) []collectors.Problem {
	if e == nil {
		return nil
	}
	var problems []collectors.Problem
	expression := func(path, text string) {
		if _, err := regexp.Compile(text); err != nil {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("%q: expected a regular expression: %v", text, err)})
		}
	}
	for _, of := range []struct {
		key     string
		headers map[string]string
	}{{"headers", e.Headers}, {"headers_not", e.HeadersNot}} {
		for _, name := range slices.Sorted(maps.Keys(of.headers)) {
			expression(fmt.Sprintf("%s.%s[%q]", path, of.key, name), of.headers[name])
		}
	}
	expression(path+".body", e.Body)
	expression(path+".body_not", e.BodyNot)
	for _, text := range slices.Sorted(maps.Keys(e.JSON)) {
		at := fmt.Sprintf("%s.json[%q]", path, text)
		if _, err := file.ParseKey(text); err != nil {
			problems = append(problems, collectors.Problem{Path: at, Text: err.Error()})
		}
		if _, err := jsonScalar(e.JSON[text]); err != nil {
			problems = append(problems, collectors.Problem{Path: at, Text: err.Error()})
		}
	}
	if method == http.MethodHead && (e.Body != "" || e.BodyNot != "" || len(e.JSON) > 0) {
		problems = append(problems, collectors.Problem{Path: path, Text: "method HEAD, whose answer has no body: expected no body, body_not or json"})
	}
	return problems
}

// The values of the label expectation.
const (
	expectStatus  = "status"
	expectHeaders = "headers"
	expectBody    = "body"
	expectJSON    = "json"
)

// expectations are the compiled expectations of a configuration.
type expectations struct {
	status        []statusRange
	headers       []headerExpectation
	body, bodyNot *regexp.Regexp // nil without an expectation
	json          []jsonExpectation
}

type headerExpectation struct {
	name    string
	pattern *regexp.Regexp
	// want reports whether a value must match; otherwise no value may.
	want bool
}

type jsonExpectation struct {
	text string
	key  file.Key
	// want is the result of jsonScalar for the value.
	want string
}

func newExpectations(c *Config) (*expectations, error) {
	x := &expectations{}
	for _, text := range c.Status {
		r, err := parseStatusRange(text)
		if err != nil {
			return nil, err
		}
		x.status = append(x.status, r)
	}
	if c.Expect == nil {
		return x, nil
	}
	return x, errors.Join(x.compileHeaders(c.Expect.Headers, true), x.compileHeaders(c.Expect.HeadersNot, false),
		compileInto(&x.body, c.Expect.Body), compileInto(&x.bodyNot, c.Expect.BodyNot), x.compileJSON(c.Expect.JSON))
}

func (x *expectations) compileHeaders(headers map[string]string, want bool) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		pattern, err := regexp.Compile(headers[name])
		if err != nil {
			return err
		}
		x.headers = append(x.headers, headerExpectation{http.CanonicalHeaderKey(name), pattern, want})
	}
	return nil
}

func (x *expectations) compileJSON(values map[string]any) error {
	for _, text := range slices.Sorted(maps.Keys(values)) {
		key, err := file.ParseKey(text)
		if err != nil {
			return err
		}
		want, err := jsonScalar(values[text])
		if err != nil {
			return err
		}
		x.json = append(x.json, jsonExpectation{text, key, want})
	}
	return nil
}

func compileInto(pattern **regexp.Regexp, text string) (err error) {
	if text != "" {
		*pattern, err = regexp.Compile(text)
	}
	return err
}

// readsBody reports whether there are expectations of the body.
func (x *expectations) readsBody() bool {
	return x.body != nil || x.bodyNot != nil || len(x.json) > 0
}

// result is the result of one expectation. text is why it is not met, empty if it is.
type result struct{ expectation, text string }

// check checks an answer against all expectations.
func (x *expectations) check(a *answer) []result {
	found := []result{{expectStatus, x.checkStatus(a.status)}}
	if len(x.headers) > 0 {
		found = append(found, result{expectHeaders, x.checkHeaders(a.header)})
	}
	if x.body != nil || x.bodyNot != nil {
		found = append(found, result{expectBody, x.checkBody(a)})
	}
	if len(x.json) > 0 {
		found = append(found, result{expectJSON, x.checkJSON(a)})
	}
	return found
}

func (x *expectations) checkStatus(status int) string {
	var expected []string
	for _, r := range x.status {
		if status >= r.first && status <= r.last {
			return ""
		}
		text := strconv.Itoa(r.first)
		if r.last != r.first {
			text += "-" + strconv.Itoa(r.last)
		}
		expected = append(expected, text)
	}
	return fmt.Sprintf("answer has status %d: expected %s", status, strings.Join(expected, ", "))
}

// checkHeaders returns the name of the first header that is not as expected, without its value.
func (x *expectations) checkHeaders(header http.Header) string {
	for _, e := range x.headers {
		matches := slices.ContainsFunc(header.Values(e.name), e.pattern.MatchString)
		switch {
		case matches == e.want:
		case redact.Name(e.name) && len(header.Values(e.name)) > 0:
			return fmt.Sprintf("header %s is not as expected", e.name)
		case !e.want:
			return fmt.Sprintf("header %s matches %q", e.name, e.pattern)
		case len(header.Values(e.name)) == 0:
			return fmt.Sprintf("answer has no header %s", e.name)
		default:
			return fmt.Sprintf("header %s does not match %q", e.name, e.pattern)
		}
	}
	return ""
}

func (x *expectations) checkBody(a *answer) string {
	switch {
	case a.unread != "":
		return a.unread
	case x.body != nil && !x.body.Match(a.body):
		return fmt.Sprintf("body does not match %q", redact.Setting(x.body.String()))
	case x.bodyNot != nil && x.bodyNot.Match(a.body):
		return fmt.Sprintf("body matches %q", redact.Setting(x.bodyNot.String()))
	}
	return ""
}

func (x *expectations) checkJSON(a *answer) string {
	switch {
	case a.unread != "":
		return a.unread
	case !json.Valid(a.body):
		return "body is not valid JSON"
	}
	for _, e := range x.json {
		got, ok := jsonAt(a.body, e.key)
		switch {
		case !ok:
			return fmt.Sprintf("body has no JSON value %s", e.text)
		case !sameScalar(got, e.want) && redact.Name(e.text):
			return fmt.Sprintf("JSON value %s is not as expected", e.text)
		case !sameScalar(got, e.want):
			return fmt.Sprintf("JSON value %s is %s: expected %s", e.text, shownJSON(got), e.want)
		}
	}
	return ""
}

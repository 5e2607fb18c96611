package http

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The values of ip_family.
const (
	familyAny = "any"
	family4   = "4"
	family6   = "6"
)

// Config configures the kind http: the request of a collection, and the expected answer.
type Config struct {
	// URL is http or https, without credentials in it. Exactly one of URL and URLFrom is set.
	URL     string   `yaml:"url,omitempty"`
	URLFrom *URLFrom `yaml:"url_from,omitempty"`
	// Several has several URLs in place of URL.
	discovery.Several `yaml:",inline"`
	// UnixSocket is the path of the socket to connect to instead of the URL's host.
	UnixSocket string `yaml:"unix_socket,omitempty"`
	// IPFamily is any, 4 or 6; any by default.
	IPFamily string `yaml:"ip_family"`

	// Method is GET by default.
	Method string `yaml:"method"`
	// Headers are sent unchanged. HeaderFiles are files with the values of secret headers.
	// They are read at each request, without the white space around their content.
	Headers     map[string]string `yaml:"headers,omitempty"`
	HeaderFiles map[string]string `yaml:"header_files,omitempty"`
	UserAgent   string            `yaml:"user_agent"`
	// Body is sent unchanged, or the content of BodyFile at the time of the request.
	Body     string `yaml:"body,omitempty"`
	BodyFile string `yaml:"body_file,omitempty"`

	BasicAuth *remote.BasicAuth `yaml:"basic_auth,omitempty"`
	// BearerTokenFile is read at each request, so that a token can be rotated.
	BearerTokenFile string            `yaml:"bearer_token_file,omitempty"`
	TLS             *remote.ClientTLS `yaml:"tls,omitempty"`
	// FollowRedirects follows redirects to other servers, too, and those with an expected status.
	// Off by default.
	FollowRedirects bool `yaml:"follow_redirects,omitempty"`
	// UseProxy uses the proxies of the environment. Off by default: the checked service is
	// usually near.
	UseProxy bool `yaml:"use_proxy,omitempty"`

	// Status are the expected statuses: numbers and ranges; 200-299 by default.
	Status []string `yaml:"status"`
	Expect *Expect  `yaml:"expect,omitempty"`
	// BodySizeLimit is how much of a body is read, decompressed; 1MiB by default.
	BodySizeLimit collectors.Size `yaml:"body_size_limit"`
	// BodyOutput is the path of a file that gets the body of the last answer, as far
	// as it was read. None by default.
	BodyOutput string `yaml:"body_output,omitempty"`
	// NoteFormat is the format of the note, in the syntax of curl's --write-out.
	NoteFormat string `yaml:"note_format"`
}

// SetDefaults sets the defaults of the block before it is decoded.
func (c *Config) SetDefaults() {
	c.IPFamily = familyAny
	c.Method = http.MethodGet
	c.UserAgent = "vitals"
	c.Status = []string{"200-299"}
	c.BodySizeLimit = 1 << 20
	c.NoteFormat = "%{http_code} %{remote_address} %{time_total} seconds"
}

// External implements Kind. A target on loopback or behind a Unix socket is on this host, and so
// is a server whose configuration file has the URL.
func (c *Config) External() bool {
	if t := c.targets(); t != nil {
		return t.External()
	}
	if c.UnixSocket != "" || c.URLFrom != nil {
		return false
	}
	u, err := url.Parse(c.URL)
	return err != nil || !remote.LocalHost(u.Hostname())
}

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements Targeted.
func (c *Config) ConfigurableTarget() {}

// SecretValue implements SecretFinder: a body may contain a secret in any form, and the keys
// of header_files are names of headers, with the paths of files as their values.
func (c *Config) SecretValue(path string) (secret, decided bool) {
	return path == "body", path == "body" || strings.HasPrefix(path, "header_files")
}

// TargetNames implements collectors.Several.
func (c *Config) TargetNames(collector string) ([]collectors.TargetName, bool) {
	return c.targets().Names(collector)
}

// targets returns the targets, nil if there is only one.
func (c *Config) targets() *discovery.Targets {
	return c.Of(discovery.Plan{Key: "url", Set: c.URL != "" || c.URLFrom != nil, Label: "dependency", Example: "https://target.example/", One: func(address string) collectors.Kind {
		one := *c
		one.Several, one.URL = discovery.Several{}, address
		return &one
	}})
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	if t := c.targets(); t != nil {
		return t.Problems()
	}
	problems := c.targetProblems()
	problems = append(problems, c.requestProblems()...)
	problems = append(problems, c.headerProblems()...)
	problems = append(problems, remote.AuthProblems(c.BasicAuth, c.BearerTokenFile, c.TLS)...)
	problems = append(problems, c.answerProblems()...)
	return problems
}

// targetProblems returns the mistakes in the target and the way to it.
func (c *Config) targetProblems() []collectors.Problem {
	var problems []collectors.Problem
	switch {
	case (c.URL == "") == (c.URLFrom == nil):
		problems = append(problems, collectors.Problem{Path: "", Text: "expected exactly one of url and url_from"})
	case c.URLFrom != nil:
		problems = append(problems, c.URLFrom.problems("url_from")...)
	default:
		problems = append(problems, c.urlProblems()...)
	}
	problems = append(problems, remote.SocketProblems("unix_socket", c.UnixSocket)...)
	if c.UnixSocket != "" && c.UseProxy {
		problems = append(problems, collectors.Problem{Path: "use_proxy", Text: "use_proxy beside unix_socket: expected one of them"})
	}
	if !slices.Contains([]string{familyAny, family4, family6}, c.IPFamily) {
		problems = append(problems, collectors.Problem{Path: "ip_family", Text: fmt.Sprintf("ip_family %q: expected any, 4 or 6", c.IPFamily)})
	}
	return problems
}

func (c *Config) urlProblems() []collectors.Problem {
	u, err := url.Parse(c.URL)
	// The text is not quoted: it may contain a password.
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return []collectors.Problem{{Path: "url", Text: "expected a URL such as http://127.0.0.1:5000/v3/"}}
	case u.User != nil:
		return []collectors.Problem{{Path: "url", Text: "credentials in the URL: expected them in basic_auth"}}
	case remote.InvalidPort(u):
		return []collectors.Problem{{Path: "url", Text: fmt.Sprintf("port %s in the URL: expected 1 to 65535", u.Port())}}
	}
	address, err := netip.ParseAddr(u.Hostname())
	is4 := address.Unmap().Is4()
	if err == nil && c.UnixSocket == "" && (c.IPFamily == family4 && !is4 || c.IPFamily == family6 && is4) {
		return []collectors.Problem{{Path: "url", Text: fmt.Sprintf("address %s in the URL: expected one of ip_family %s", address, c.IPFamily)}}
	}
	return nil
}

var method = regexp.MustCompile(`^[A-Z]{1,20}$`)

func (c *Config) requestProblems() []collectors.Problem {
	var problems []collectors.Problem
	if !method.MatchString(c.Method) || c.Method == http.MethodConnect {
		problems = append(problems, collectors.Problem{Path: "method", Text: fmt.Sprintf("method %q: expected a method such as GET, HEAD or POST", c.Method)})
	}
	if c.Body != "" && c.BodyFile != "" {
		problems = append(problems, collectors.Problem{Path: "body_file", Text: "body_file beside body: expected one of them"})
	}
	if c.BodyFile != "" {
		problems = append(problems, remote.SecretPathProblem("body_file", c.BodyFile)...)
	}
	return problems
}

// answerProblems returns the mistakes in the expectations and the outputs.
func (c *Config) answerProblems() []collectors.Problem {
	var problems []collectors.Problem
	if len(c.Status) == 0 {
		problems = append(problems, collectors.Problem{Path: "status", Text: "no status: expected at least one, such as 200-299"})
	}
	for i, text := range c.Status {
		if _, err := parseStatusRange(text); err != nil {
			problems = append(problems, collectors.Problem{Path: fmt.Sprintf("status[%d]", i), Text: err.Error()})
		}
	}
	problems = append(problems, c.Expect.problems("expect", c.Method)...)
	if c.BodySizeLimit <= 0 {
		problems = append(problems, collectors.Problem{Path: "body_size_limit", Text: fmt.Sprintf("body_size_limit %s: expected more than 0B", c.BodySizeLimit)})
	}
	if c.BodyOutput != "" {
		problems = append(problems, remote.PathProblem("body_output", c.BodyOutput)...)
	}
	if _, err := parseWriteOut(c.NoteFormat); err != nil {
		problems = append(problems, collectors.Problem{Path: "note_format", Text: err.Error()})
	}
	return problems
}

// statusRange is the range of statuses from first to last.
type statusRange struct{ first, last int }

var statusPattern = regexp.MustCompile(`^([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?$`)

// parseStatusRange reads a status or a range of them: 204, 200-299.
func parseStatusRange(text string) (statusRange, error) {
	m := statusPattern.FindStringSubmatch(text)
	if m == nil || m[2] != "" && m[2] < m[1] {
		return statusRange{}, fmt.Errorf("status %q: expected a status such as 204, or a range such as 200-299", text)
	}
	var r statusRange
	r.first, _ = strconv.Atoi(m[1])
	if r.last = r.first; m[2] != "" {
		r.last, _ = strconv.Atoi(m[2])
	}
	return r, nil
}

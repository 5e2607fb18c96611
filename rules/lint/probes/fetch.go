package probes

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/internal/manifest"
)

// fetches matches the words of a command of curl or wget in a shell script.
var fetches = regexp.MustCompile(`(?:^|[\s/(])(?:curl|wget)(?:\s[^;&|<>)]*)?|https?://[^\s'"|;<>)]+`)

// fetchRequest parses a command, or the parts of a script, that requests a URL of its own
// pod with curl or wget. A request to another host is not one of Vitals.
func (p *checker) fetchRequest(c *manifest.Container, q request, command []string) request {
	other := request{key: q.key}
	words := strings.Fields(strings.Join(command, " "))
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(strings.Trim(w, `'"`), "http") })
	if at < 0 {
		return other
	}
	u, err := url.Parse(strings.Trim(expanded(c, words[at]), `'"`))
	if err != nil || !loopback(u.Hostname()) {
		return other
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	http := p.httpRequest(u.RequestURI())
	http.key, http.connects, http.passes = q.key, port, q.passes
	if path.Base(words[0]) == "curl" && len(command) > 1 && !slices.ContainsFunc(words[1:], failsOnStatus) {
		http.passes = "curl exits with 0 whatever the status is, without --fail"
	}
	return http
}

// failsOnStatus reports whether an argument of curl makes it fail for a status such as 503:
// --fail, --fail-with-body, or f among letters such as -sSf.
func failsOnStatus(arg string) bool {
	short := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "f")
	return short || strings.HasPrefix(arg, "--fail")
}

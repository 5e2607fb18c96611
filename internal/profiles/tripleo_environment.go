package profiles

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	httpkind "github.com/vitals-health/vitals/collectors/http"
)

// curlEnvironment holds the environment variables of TripleO's scripts for HTTP.
type curlEnvironment struct {
	// maxTime is how long one request may take.
	maxTime   time.Duration
	userAgent string
	// writeOut is in the language of curl's --write-out; empty where it is not set.
	writeOut string
	// output is the path of the file for the body; empty for none.
	output   string
	useProxy bool
	debug    bool
}

// The variables of TripleO's scripts. HEALTHCHECK_SCRIPTS is ignored: there are no scripts.
const (
	maxTimeVariable  = "HEALTHCHECK_CURL_MAX_TIME"
	writeOutVariable = "HEALTHCHECK_CURL_WRITE_OUT"
	outputVariable   = "HEALTHCHECK_CURL_OUTPUT"
)

// read reads the environment and returns the errors in it. As in the scripts, an empty
// variable counts as unset.
func (e *curlEnvironment) read() []error {
	var errs []error
	seconds := cmp.Or(os.Getenv(maxTimeVariable), "10")
	if n, err := strconv.ParseFloat(seconds, 64); err == nil && n >= 0.001 && n <= 3600 {
		e.maxTime = time.Duration(n * float64(time.Second)).Round(time.Millisecond)
	} else {
		errs = append(errs, fmt.Errorf("%s=%.32s: expected a number of seconds above 0 and at most 3600", maxTimeVariable, seconds))
	}
	for name, to := range map[string]*bool{"HEALTHCHECK_USE_PROXY": &e.useProxy, "HEALTHCHECK_DEBUG": &e.debug} {
		n, err := strconv.Atoi(cmp.Or(os.Getenv(name), "0"))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s=%.32s: expected 0 or 1", name, os.Getenv(name)))
		}
		*to = n != 0
	}
	if output := os.Getenv(outputVariable); output != "" && output != os.DevNull {
		var err error
		if e.output, err = filepath.Abs(output); err != nil {
			errs = append(errs, fmt.Errorf("%s=%.64s: %w", outputVariable, output, err))
		}
	}
	e.userAgent = cmp.Or(os.Getenv("HEALTHCHECK_CURL_USER_AGENT"), "curl-healthcheck")
	if e.otherClient() {
		e.userAgent = cmp.Or(os.Getenv("HEALTHCHECK_CURL_PY_USER_AGENT"), "pyrequests-healthcheck")
	}
	if e.writeOut = os.Getenv(writeOutVariable); e.writeOut != "" {
		check := httpkind.Config{}
		check.SetDefaults()
		check.URL, check.NoteFormat = "http://localhost/", e.writeOut
		for _, p := range check.Problems() {
			errs = append(errs, fmt.Errorf("%s: %s", writeOutVariable, p.Text))
			e.writeOut = ""
		}
	}
	return errs
}

// otherClient reports whether TripleO's scripts would use their own HTTP client instead of
// curl. Its user agent is the one in the servers' logs.
func (e *curlEnvironment) otherClient() bool {
	if _, set := os.LookupEnv("HEALTHCHECK_CURL_PY"); set {
		return true
	}
	_, lower := os.LookupEnv("no_proxy")
	_, upper := os.LookupEnv("NO_PROXY")
	return e.useProxy && (lower || upper)
}

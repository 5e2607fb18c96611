// Command healthcheck is the exec probe: it asks the daemon for a state over its
// Unix socket, prints one line, and exits with a code. It never forks, and has one
// deadline for all that it does.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// What holds where neither a flag nor the environment says otherwise.
const (
	defaultSocket  = "/run/vitals/vitals.sock"
	defaultState   = "ready"
	defaultTimeout = 900 * time.Millisecond // below the second that a kubelet waits
)

// environment is what the names of the variables begin with.
const environment = "VITALS_HEALTHCHECK_"

func main() {
	os.Exit(run(time.Now(), os.Args, os.Getenv, os.Stdout))
}

// probe is what is to be asked.
type probe struct {
	socket, state string
	style         execprobe.Style
	timeout       time.Duration
}

// run is the program: it returns the exit code. Everything goes to stdout, which is
// all that the callers of probes keep.
func run(start time.Time, args []string, getenv func(string) string, stdout io.Writer) int {
	p, err := parse(args, getenv, stdout)
	if errors.Is(err, flag.ErrHelp) {
		if p.style == execprobe.Nagios {
			return 3 // the Monitoring Plugins' own rule
		}
		return 0
	}
	var result execprobe.Result
	if err != nil {
		result = execprobe.Result{Outcome: execprobe.Usage, Text: err.Error()}
	} else {
		result = execprobe.Ask(p.socket, p.state, start.Add(p.timeout))
	}
	_, _ = io.WriteString(stdout, p.style.Render(result)) // nobody is left to be told
	return p.style.Code(result)
}

// parse reads the flags and, for those that are not given, the environment. The
// style is set whatever is wrong. Further arguments, which callers of other health
// checks pass, are ignored: what is checked is said by the daemon's configuration.
func parse(args []string, getenv func(string) string, help io.Writer) (probe, error) {
	p := probe{style: execprobe.StyleOf(args[0])}
	def := func(name, value string) string {
		if v := getenv(environment + strings.ToUpper(name)); v != "" {
			return v
		}
		return value
	}
	set := flag.NewFlagSet("healthcheck", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&p.socket, "socket", def("socket", defaultSocket), "")
	set.StringVar(&p.state, "state", def("state", defaultState), "")
	style := set.String("style", def("style", string(p.style)), "")
	timeout := set.String("timeout", def("timeout", defaultTimeout.String()), "")
	err := set.Parse(args[1:])
	if known := execprobe.Style(*style); slices.Contains(execprobe.Styles(), known) {
		p.style = known
	} else if err == nil {
		err = fmt.Errorf("style %.32q: expected plain, docker, sonic or nagios", *style)
	}
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(help, usage)
		return p, err
	}
	if err != nil {
		return p, fmt.Errorf("%w (try --help)", err)
	}
	if p.timeout, err = time.ParseDuration(*timeout); err != nil || p.timeout <= 0 {
		return p, fmt.Errorf("timeout %.32q: expected a duration such as 900ms", *timeout)
	}
	if !validState(p.state) {
		return p, fmt.Errorf("state %.32q: expected a name such as ready or alive", p.state)
	}
	return p, nil
}

// validState says whether a name can be a part of a path as it stands.
func validState(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != ""
}

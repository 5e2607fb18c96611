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
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// What holds where neither a flag nor the environment says otherwise.
const (
	defaultSocket  = "/run/vitals/vitals.sock"
	defaultState   = "ready"
	defaultTimeout = 900 * time.Millisecond // below the second that a kubelet waits
	defaultConfig  = "/etc/vitals/vitals.yml"
)

// environment is what the names of the variables begin with.
const environment = "VITALS_HEALTHCHECK_"

func main() {
	os.Exit(run(time.Now(), os.Args, surroundings{os.Getenv, os.Stdout, replace}))
}

// surroundings are what the program uses of the process.
type surroundings struct {
	getenv func(string) string
	stdout io.Writer
	// replace becomes another program; it returns only if that cannot be done.
	replace func(args []string) error
}

// probe is what is to be asked.
type probe struct {
	socket, state string
	style         execprobe.Style
	timeout       time.Duration
	// alone does not ask a daemon at all.
	alone          bool
	config, vitals string
}

// run is the program: it returns the exit code. Everything goes to stdout, which is
// all that the callers of probes keep.
func run(start time.Time, args []string, env surroundings) int {
	p, err := parse(args, env.getenv, env.stdout)
	if errors.Is(err, flag.ErrHelp) {
		if p.style == execprobe.Nagios {
			return 3 // the Monitoring Plugins' own rule
		}
		return 0
	}
	result := execprobe.Result{Outcome: execprobe.Usage}
	if err != nil {
		result.Text = err.Error()
	} else {
		result = p.look(start.Add(p.timeout), env)
	}
	_, _ = io.WriteString(env.stdout, p.style.Render(result)) // nobody is left to be told
	return p.style.Code(result)
}

// look asks the daemon. Where there is none, but a configuration that one could have,
// the process becomes "vitals once", which collects and evaluates by itself.
func (p *probe) look(deadline time.Time, env surroundings) execprobe.Result {
	if !p.alone {
		result := execprobe.Ask(p.socket, p.state, deadline)
		if result.Outcome != execprobe.NoDaemon || !exists(p.config) {
			return result
		}
	}
	left := time.Until(deadline)
	if left <= 0 {
		return execprobe.Result{Outcome: execprobe.Timeout, Text: "no time is left to evaluate " + p.config}
	}
	err := env.replace([]string{p.vitals, "once", p.state, "--config.file=" + p.config, "--style=" + string(p.style), "--timeout=" + left.String()})
	return execprobe.Result{Outcome: execprobe.Usage, Text: fmt.Sprintf("become %s once: %v", p.vitals, err)}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// replace becomes another program in the same process, so that there is no child
// that could be left behind.
func replace(args []string) error { return syscall.Exec(args[0], args, os.Environ()) }

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
	set.BoolVar(&p.alone, "standalone", def("standalone", "") != "", "")
	set.StringVar(&p.config, "config.file", def("config_file", defaultConfig), "")
	set.StringVar(&p.vitals, "vitals", def("vitals", sibling()), "")
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

// sibling is the program vitals beside this one, with symbolic links resolved.
func sibling() string {
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	if err != nil {
		return "/usr/local/bin/vitals"
	}
	return filepath.Join(filepath.Dir(own), "vitals")
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

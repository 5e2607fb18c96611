// Command healthcheck is the exec probe: it queries the daemon for a state over its Unix
// socket, prints one line, and exits with a code. It never forks, and one deadline bounds
// the whole run.
package main

import (
	"cmp"
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

// The defaults of flags that neither the command line nor the environment sets.
const (
	defaultSocket  = "/run/vitals/vitals.sock"
	defaultState   = "ready"
	defaultTimeout = 900 * time.Millisecond // below the kubelet's default of 1 s
	defaultConfig  = "/etc/vitals/vitals.yml"
)

// The values of --no-daemon.
const (
	onceWithoutDaemon = "once"
	passWithoutDaemon = "pass"
)

// environment is the prefix of the environment variables. The profile's variable is
// that of vitals, so that an image sets it once.
const (
	environment        = "VITALS_HEALTHCHECK_"
	profileEnvironment = "VITALS_PROFILE"
)

// The profile tripleo has an own default for the time of an evaluation without a daemon, as
// its scripts do: what one request may take, and what is left to start and to evaluate.
const (
	tripleo            = "tripleo"
	maxTimeEnvironment = "HEALTHCHECK_CURL_MAX_TIME"
	defaultMaxTime     = "10" // seconds
	evaluationTime     = 5 * time.Second
)

func main() {
	os.Exit(run(time.Now(), os.Args, process{os.Getenv, os.Stdout, replace}))
}

// process is the part of the process that the program uses.
type process struct {
	getenv func(string) string
	stdout io.Writer
	// replace executes another program in place of this one. It returns only on failure.
	replace func(args []string) error
}

// probe is the parsed command line.
type probe struct {
	socket, state string
	style         execprobe.Style
	timeout       time.Duration
	// evaluation is the time of an evaluation without a daemon; zero for what is left of
	// timeout.
	evaluation time.Duration
	// alone is set to evaluate without querying a daemon.
	alone bool
	// noDaemon is what to do if no process listens on the socket: once or pass.
	noDaemon                string
	config, profile, vitals string
	// arguments are the arguments that are not flags. They are passed to the profile.
	arguments []string
}

// run runs the program and returns the exit code. All output goes to stdout, because
// callers of probes keep only that.
func run(start time.Time, args []string, env process) int {
	p, err := parse(args, env.getenv, env.stdout)
	if errors.Is(err, flag.ErrHelp) {
		if p.style == execprobe.Nagios {
			return 3 // as the Monitoring Plugins require
		}
		return 0
	}
	result := execprobe.Result{Outcome: execprobe.Usage}
	if err != nil {
		result.Text = err.Error()
	} else {
		result = p.query(start.Add(p.timeout), env)
	}
	_, _ = io.WriteString(env.stdout, p.style.Render(result)) // A failed write cannot be reported.
	return p.style.Code(result)
}

// query queries the daemon. Without a daemon, but with a configuration or a profile, it
// replaces the process by "vitals once", which collects and evaluates in one process.
func (p *probe) query(deadline time.Time, env process) execprobe.Result {
	if !p.alone {
		result := execprobe.Query(p.socket, p.state, deadline)
		if result.Outcome != execprobe.NoDaemon {
			return result
		}
		if p.noDaemon == passWithoutDaemon {
			return execprobe.Result{Outcome: execprobe.OK, Text: fmt.Sprintf("%s: not evaluated, and ok by --no-daemon=pass: %s", p.state, result.Text)}
		}
		if p.profile == "" && !exists(p.config) {
			result.Text += fmt.Sprintf(": start vitals run, or provide %s or a profile to evaluate once without a daemon", p.config)
			return result
		}
	}
	from := p.source()
	left := cmp.Or(p.evaluation, time.Until(deadline))
	if left <= 0 {
		return execprobe.Result{Outcome: execprobe.Timeout, Text: "no time left to evaluate with " + from[0]}
	}
	once := append([]string{p.vitals, "once", p.state}, from...)
	err := env.replace(append(once, "--style="+string(p.style), "--timeout="+left.String()))
	return execprobe.Result{Outcome: execprobe.Usage, Text: fmt.Sprintf("execute %s once: %v", p.vitals, err)}
}

// source returns the flags of "vitals once" that select what to evaluate: the
// configuration file if it exists, or else the profile with the caller's arguments.
func (p *probe) source() []string {
	if p.profile == "" || exists(p.config) {
		return []string{"--config.file=" + p.config}
	}
	flags := []string{"--profile=" + p.profile}
	if len(p.arguments) > 0 {
		flags = append(flags, "--set=arguments="+strings.Join(p.arguments, " "))
	}
	return flags
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// replace executes another program in the same process, so that no child can be left
// behind.
func replace(args []string) error { return syscall.Exec(args[0], args, os.Environ()) }

// parse parses the flags and, for flags that are not given, the environment. The style
// is set even if parse fails. Other arguments, which callers of other health checks
// pass, belong to the profile: a daemon's own configuration defines what it checks.
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
	set.StringVar(&p.noDaemon, "no-daemon", def("no_daemon", onceWithoutDaemon), "")
	set.StringVar(&p.config, "config.file", def("config_file", defaultConfig), "")
	set.StringVar(&p.profile, "profile", getenv(profileEnvironment), "")
	set.StringVar(&p.vitals, "vitals", def("vitals", sibling()), "")
	style := set.String("style", def("style", string(p.style)), "")
	timeout := set.String("timeout", def("timeout", ""), "")
	err := p.parseAll(set, args[1:])
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
	if *timeout == "" {
		*timeout = defaultTimeout.String()
		p.evaluation = p.patience(getenv)
	}
	if p.timeout, err = time.ParseDuration(*timeout); err != nil || p.timeout <= 0 {
		return p, fmt.Errorf("timeout %.32q: expected a duration such as 900ms", *timeout)
	}
	if p.noDaemon != onceWithoutDaemon && p.noDaemon != passWithoutDaemon {
		return p, fmt.Errorf("no-daemon %.32q: expected once or pass", p.noDaemon)
	}
	if !validState(p.state) {
		return p, fmt.Errorf("state %.32q: expected a name such as ready or alive", p.state)
	}
	return p, nil
}

// patience returns the time for an evaluation of the profile, or zero where there is no rule
// for it. A value that is no number gets the default: vitals reports it.
func (p *probe) patience(getenv func(string) string) time.Duration {
	if p.profile != tripleo {
		return 0
	}
	maxTime, err := time.ParseDuration(cmp.Or(getenv(maxTimeEnvironment), defaultMaxTime) + "s")
	if err != nil {
		return evaluationTime
	}
	return maxTime + evaluationTime
}

// parseAll parses flags at any place among the arguments: an argument that begins with
// a dash is a flag, unless "--" precedes it.
func (p *probe) parseAll(set *flag.FlagSet, args []string) error {
	for len(args) > 0 {
		if err := set.Parse(args); err != nil {
			return err
		}
		rest := set.Args()
		if read := len(args) - len(rest); read > 0 && args[read-1] == "--" {
			p.arguments = append(p.arguments, rest...)
			return nil
		}
		if len(rest) > 0 {
			p.arguments, rest = append(p.arguments, rest[0]), rest[1:]
		}
		args = rest
	}
	return nil
}

// sibling returns the path of vitals in the folder of this program, with symbolic links
// resolved.
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

// validState reports whether a name can be part of a path without escaping.
func validState(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != "" && name[0] != '-'
}

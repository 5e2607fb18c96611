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

// environment is what the names of the variables begin with. The profile's variable is
// the one that vitals has, so that an image says it once.
const (
	environment        = "VITALS_HEALTHCHECK_"
	profileEnvironment = "VITALS_PROFILE"
)

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
	alone                   bool
	config, profile, vitals string
	// arguments are what the caller says beside the flags: they belong to the profile.
	arguments []string
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
		if result.Outcome != execprobe.NoDaemon {
			return result
		}
		if p.profile == "" && !exists(p.config) {
			result.Text += fmt.Sprintf(": start vitals run, or give %s or a profile for one look without it", p.config)
			return result
		}
	}
	from := p.source()
	left := time.Until(deadline)
	if left <= 0 {
		return execprobe.Result{Outcome: execprobe.Timeout, Text: "no time is left to evaluate with " + from[0]}
	}
	once := append([]string{p.vitals, "once", p.state}, from...)
	err := env.replace(append(once, "--style="+string(p.style), "--timeout="+left.String()))
	return execprobe.Result{Outcome: execprobe.Usage, Text: fmt.Sprintf("become %s once: %v", p.vitals, err)}
}

// source are the flags of "vitals once" that say what to evaluate: the configuration
// file where there is one, or else the profile with the caller's arguments.
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

// replace becomes another program in the same process, so that there is no child
// that could be left behind.
func replace(args []string) error { return syscall.Exec(args[0], args, os.Environ()) }

// parse reads the flags and, for those that are not given, the environment. The
// style is set whatever is wrong. Further arguments, which callers of other health
// checks pass, are the profile's: a daemon's configuration says itself what is checked.
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
	set.StringVar(&p.profile, "profile", getenv(profileEnvironment), "")
	set.StringVar(&p.vitals, "vitals", def("vitals", sibling()), "")
	style := set.String("style", def("style", string(p.style)), "")
	timeout := set.String("timeout", def("timeout", defaultTimeout.String()), "")
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
	if p.timeout, err = time.ParseDuration(*timeout); err != nil || p.timeout <= 0 {
		return p, fmt.Errorf("timeout %.32q: expected a duration such as 900ms", *timeout)
	}
	if !validState(p.state) {
		return p, fmt.Errorf("state %.32q: expected a name such as ready or alive", p.state)
	}
	return p, nil
}

// parseAll parses flags wherever they stand among the arguments: one that begins with
// a dash is a flag, unless a "--" stands before it.
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
	return name != "" && name[0] != '-'
}

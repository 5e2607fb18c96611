package lint

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/states"
)

// question is what a probe asks.
type question struct {
	// key is the key of the probe that says so.
	key string
	// state is the state that is asked for, and given the word that names it, an alias of
	// it or something near to one. state is empty where there is no such state.
	state, given string
	// rule is the rule that is asked for alone.
	rule string
	// path is the path of a request with its escapes undone, and query what follows it.
	path  string
	query url.Values
	// program is the program of an exec probe: healthcheck, or the command of vitals.
	program string
	// timeout is when that program gives up by itself.
	timeout time.Duration
	// passes says why an exec probe passes whatever happens; empty where it does not.
	passes string
}

// names are the names by which the states can be asked for.
func (p *pass) names() []string {
	var all []string
	for _, state := range p.opts.States {
		all = append(all, states.Names(state)...)
	}
	return all
}

// stateOf returns the state of a name, or "".
func (p *pass) stateOf(name string) string {
	for _, state := range p.opts.States {
		if slices.Contains(states.Names(state), name) {
			return state
		}
	}
	return ""
}

func (p *pass) question(c *manifest.Container, probe *manifest.Probe) question {
	switch {
	case probe.HTTP != nil:
		return p.requested(probe.HTTP.Path)
	case len(probe.Exec) > 0:
		var command []string
		for _, word := range probe.Exec {
			command = append(command, expanded(c, word))
		}
		return p.executed(c, command)
	}
	return question{}
}

// requested reads the path of a request as the kubelet does: what is no URL is a path
// as it stands (formatURL in k8s.io/kubernetes/pkg/probe/http/request.go).
func (p *pass) requested(raw string) question {
	u, err := url.Parse(raw)
	if err != nil {
		u = &url.URL{Path: raw}
	}
	q := question{key: "httpGet.path", path: "/" + strings.TrimPrefix(u.Path, "/"), query: u.Query()}
	name, rule, _ := strings.Cut(q.path[1:], "/")
	q.state, q.rule = p.stateOf(name), rule
	if q.state != "" || slices.Contains(p.names(), strings.ToLower(name)) {
		q.given = name
	}
	return q
}

// What a shell does with the verdict of the command before: it forgets it.
var forgets = regexp.MustCompile(`(\|\||;)\s*(true|:|exit\s+0|/bin/true|/usr/bin/true|echo\b[^;&|]*)\s*;?\s*$|[^&]&\s*$`)

// ourCommand finds our programs in a line for a shell, up to where another command begins.
var ourCommand = regexp.MustCompile(`(?:^|[\s/(])((?:healthcheck|vitals)(?:\s[^;&|<>)]*)?)`)

// executed reads the command of an exec probe.
func (p *pass) executed(c *manifest.Container, command []string) question {
	q := question{key: "exec.command"}
	program := path.Base(command[0])
	if slices.Contains([]string{"sh", "bash", "ash", "dash"}, program) && len(command) > 2 && strings.HasPrefix(command[1], "-") && strings.HasSuffix(command[1], "c") {
		script := command[2]
		found := ourCommand.FindStringSubmatch(script)
		if found == nil {
			return q
		}
		if forgets.MatchString(script) {
			q.passes = "the shell forgets what the command says, and ends with 0"
		}
		command = strings.Fields(found[1])
		program = command[0]
	}
	switch program {
	case "true":
		q.passes = "the command always ends with 0"
	case "healthcheck":
		p.healthcheck(&q, c, command[1:])
	case "vitals":
		p.vitals(&q, command[1:])
	}
	return q
}

// healthcheck reads the arguments of the exec probe: a flag goes before the environment.
func (p *pass) healthcheck(q *question, c *manifest.Container, args []string) {
	given, _ := arguments(args)
	say := func(flag, otherwise string) string {
		if value, ok := given[flag]; ok {
			return value
		}
		if value := c.Env["VITALS_HEALTHCHECK_"+strings.ToUpper(flag)]; value != "" {
			return value
		}
		return otherwise
	}
	q.program = "healthcheck"
	q.asks(p, say("state", "ready"))
	q.timeout, _ = time.ParseDuration(say("timeout", "900ms"))
}

// vitals reads the arguments of the program itself: two of its commands judge a state.
func (p *pass) vitals(q *question, args []string) {
	given, rest := arguments(args)
	command := firstOf(rest)
	q.program = strings.TrimSpace("vitals " + command)
	defaults := map[string]string{"once": "15s", "wait": "5m"}
	if defaults[command] == "" {
		q.passes = q.program + " says nothing of a state"
		return
	}
	q.asks(p, firstOf(append(rest[1:], "ready")))
	timeout, ok := given["timeout"]
	if !ok {
		timeout = defaults[command]
	}
	q.timeout, _ = time.ParseDuration(timeout)
}

func (q *question) asks(p *pass, name string) { q.given, q.state = name, p.stateOf(name) }

// arguments takes flags with a value, as --state=ready or --state ready, from the others.
func arguments(args []string) (given map[string]string, rest []string) {
	given = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, whole := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			rest = append(rest, args[i])
		case whole || name == "standalone" || i+1 == len(args):
			given[name] = value
		default:
			i++
			given[name] = args[i]
		}
	}
	return given, rest
}

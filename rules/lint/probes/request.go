package probes

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/internal/states"
)

// request is what a probe requests.
type request struct {
	// key is the key of the probe that determines it.
	key string
	// state is the requested state; empty if it does not exist. given is the word that
	// names it: the state, an alias, or a word similar to one.
	state, given string
	// rule is the only rule that is requested, if any.
	rule string
	// path is the unescaped path of an HTTP request, and query its query.
	path  string
	query url.Values
	// program is the program of an exec probe: healthcheck, or a command of vitals.
	program string
	// timeout is the timeout of that program.
	timeout time.Duration
	// passes explains why an exec probe always passes; empty if it does not.
	passes string
	// connects is the port of the pod that a command connects to; 0 for none.
	connects int
	// failsAlone is set for an exec probe that fails if no daemon runs, and passesAlone for
	// one that passes.
	failsAlone, passesAlone bool
}

// names returns the names of all states in a request.
func (p *checker) names() []string {
	var all []string
	for _, state := range p.in.States {
		all = append(all, states.Names(state)...)
	}
	return all
}

// stateOf returns the state of a name, or "".
func (p *checker) stateOf(name string) string {
	for _, state := range p.in.States {
		if slices.Contains(states.Names(state), name) {
			return state
		}
	}
	return ""
}

func (p *checker) request(c *manifest.Container, probe *manifest.Probe) request {
	switch {
	case probe.HTTP != nil:
		return p.httpRequest(probe.HTTP.Path)
	case len(probe.Exec) > 0:
		var command []string
		for _, word := range probe.Exec {
			command = append(command, expanded(c, word))
		}
		return p.execRequest(c, command)
	case probe.GRPC != nil:
		return p.grpcRequest(probe)
	}
	return request{}
}

// grpcRequest parses the service of a probe by gRPC: a state, a rule of one, or ready if it
// is empty.
func (p *checker) grpcRequest(probe *manifest.Probe) request {
	name, rule, _ := strings.Cut(probe.Service, "/")
	q := request{key: "grpc.service", given: cmp.Or(name, states.Ready), rule: rule}
	if !probe.Has(q.key) {
		q.key = "grpc"
	}
	q.state = p.stateOf(q.given)
	return q
}

// httpRequest parses the path of an HTTP request as the kubelet does: text that is not a
// URL is a path (formatURL in k8s.io/kubernetes/pkg/probe/http/request.go).
func (p *checker) httpRequest(raw string) request {
	u, err := url.Parse(raw)
	if err != nil {
		u = &url.URL{Path: raw}
	}
	q := request{key: "httpGet.path", path: "/" + strings.TrimPrefix(u.Path, "/"), query: u.Query()}
	name, rule, _ := strings.Cut(q.path[1:], "/")
	q.state, q.rule = p.stateOf(name), rule
	if q.state != "" || slices.Contains(p.names(), strings.ToLower(name)) {
		q.given = name
	}
	return q
}

// ignoresExitCode matches a shell script that discards the exit code of a command.
var ignoresExitCode = regexp.MustCompile(`(\|\||;)\s*(true|:|exit\s+0|/bin/true|/usr/bin/true|echo\b[^;&|]*)\s*;?\s*$|[^&]&\s*$`)

// ourCommand matches a program of Vitals in a shell script, up to the next command.
var ourCommand = regexp.MustCompile(`(?:^|[\s/(])((?:healthcheck|vitals)(?:\s[^;&|<>)]*)?)`)

// execRequest parses the command of an exec probe.
func (p *checker) execRequest(c *manifest.Container, command []string) request {
	q := request{key: "exec.command"}
	program := path.Base(command[0])
	if slices.Contains([]string{"sh", "bash", "ash", "dash"}, program) && len(command) > 2 && strings.HasPrefix(command[1], "-") && strings.HasSuffix(command[1], "c") {
		script := command[2]
		found := ourCommand.FindStringSubmatch(script)
		if ignoresExitCode.MatchString(script) {
			q.passes = "the shell ignores the exit code of the command and exits with 0"
		}
		if found == nil {
			return p.fetchRequest(c, q, fetches.FindAllString(script, -1))
		}
		command = strings.Fields(found[1])
		program = command[0]
	}
	switch program {
	case "true":
		q.passes = "the command always exits with 0"
	case "healthcheck":
		p.healthcheck(&q, c, command[1:])
	case "vitals":
		p.vitals(&q, command[1:])
	case "curl", "wget":
		return p.fetchRequest(c, q, command)
	}
	return q
}

// healthcheck parses the arguments of the exec probe. A flag overrides the environment.
func (p *checker) healthcheck(q *request, c *manifest.Container, args []string) {
	given, _ := arguments(args)
	setting := func(flag, otherwise string) string {
		if value, ok := given[flag]; ok {
			return value
		}
		if value := c.Env["VITALS_HEALTHCHECK_"+strings.ToUpper(flag)]; value != "" {
			return value
		}
		return otherwise
	}
	q.program = "healthcheck"
	q.setState(p, setting("state", "ready"))
	q.timeout, _ = time.ParseDuration(setting("timeout", "900ms"))
	_, alone := given["standalone"]
	if !alone && c.Env["VITALS_HEALTHCHECK_STANDALONE"] == "" {
		q.passesAlone = setting("no_daemon", given["no-daemon"]) == "pass"
		q.failsAlone = !q.passesAlone
	}
}

// vitals parses the arguments of vitals. Two of its commands return the verdict of a state.
func (p *checker) vitals(q *request, args []string) {
	given, rest := arguments(args)
	command := firstOf(rest)
	q.program = strings.TrimSpace("vitals " + command)
	defaults := map[string]string{"once": "15s", "wait": "5m"}
	if defaults[command] == "" {
		q.passes = q.program + " does not evaluate a state"
		return
	}
	q.setState(p, firstOf(append(rest[1:], "ready")))
	timeout, ok := given["timeout"]
	if !ok {
		timeout = defaults[command]
	}
	q.timeout, _ = time.ParseDuration(timeout)
}

func (q *request) setState(p *checker, name string) { q.given, q.state = name, p.stateOf(name) }

// arguments separates flags with a value, such as --state=ready or --state ready, from
// other arguments.
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

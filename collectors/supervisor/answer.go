package supervisor

import (
	"errors"
	"fmt"
	"math"

	"github.com/vitals-health/vitals/internal/text"
)

// call requests the state and the programs in one call, so that they are consistent. The
// multicall of supervisord takes structs of methodName and params and returns a list of results.
// Source: http://supervisord.org/api.html
const call = `<?xml version="1.0"?><methodCall><methodName>system.multicall</methodName><params><param><value><array><data>` +
	`<value><struct><member><name>methodName</name><value><string>supervisor.getState</string></value></member>` +
	`<member><name>params</name><value><array><data></data></array></value></member></struct></value>` +
	`<value><struct><member><name>methodName</name><value><string>supervisor.getAllProcessInfo</string></value></member>` +
	`<member><name>params</name><value><array><data></data></array></value></member></struct></value>` +
	`</data></array></value></param></params></methodCall>`

// The faults with a special meaning: class Faults in
// supervisor/xmlrpc.py.
const (
	faultUnknownMethod = 1
	faultShutdownState = 6
)

// answer is the state of supervisord and of its programs.
type answer struct {
	// state is a word of states.
	state    string
	programs []program
}

// program is one program, or one of several processes of a program.
type program struct {
	group, name string
	// state is a word of programStates.
	state string
	// exitStatus is that of the last end, -1 by a signal. It is valid in the state exited.
	exitStatus int64
	// spawnErr is the error of a failed start or an unexpected end.
	spawnErr string
	// start and now are seconds since the epoch, at most what 32 bits hold.
	start, now int64
}

// coded is a word for a number of supervisord.
type coded struct {
	code int64
	word string
}

// states are the states of supervisord. Source: getState in
// http://supervisord.org/api.html
func states() []coded {
	return []coded{{2, "fatal"}, {1, "running"}, {0, "restarting"}, {-1, "shutdown"}}
}

// programStates are the states of a program. Source: http://supervisord.org/subprocess.html#process-states
func programStates() []coded {
	return []coded{
		{0, "stopped"}, {10, "starting"}, {20, "running"}, {30, "backoff"},
		{40, "stopping"}, {100, "exited"}, {200, "fatal"}, {1000, "unknown"},
	}
}

// wordOf returns the word for a code.
func wordOf(all []coded, code int64) (string, error) {
	for _, c := range all {
		if c.code == code {
			return c.word, nil
		}
	}
	return "", fmt.Errorf("state %d: expected one of supervisord", code)
}

// parseAnswer parses the result of call.
func parseAnswer(v any) (answer, error) {
	results, _ := v.([]any)
	if len(results) != 2 {
		return answer{}, errors.New("expected a list of two results")
	}
	for _, r := range results {
		if fields, ok := r.(map[string]any); ok && fields["faultCode"] != nil {
			return answer{}, faultOf(fields)
		}
	}
	code, err := member[int64](results[0], "statecode")
	if err != nil {
		return answer{}, err
	}
	var a answer
	if a.state, err = wordOf(states(), code); err != nil {
		return answer{}, err
	}
	list, ok := results[1].([]any)
	if !ok {
		return answer{}, errors.New("expected a list of programs")
	}
	a.programs = make([]program, len(list))
	known := make(map[programName]bool, len(list))
	for i, p := range list {
		if a.programs[i], err = parseProgram(p); err != nil {
			return answer{}, err
		}
		name := programName{a.programs[i].group, a.programs[i].name}
		if known[name] {
			return answer{}, fmt.Errorf("program %q twice", name)
		}
		known[name] = true
	}
	return a, nil
}

func parseProgram(v any) (program, error) {
	var p program
	var code int64
	var errs [7]error
	p.group, errs[0] = member[string](v, "group")
	p.name, errs[1] = member[string](v, "name")
	code, errs[2] = member[int64](v, "state")
	p.exitStatus, errs[3] = member[int64](v, "exitstatus")
	p.spawnErr, errs[4] = member[string](v, "spawnerr")
	p.start, errs[5] = member[int64](v, "start")
	p.now, errs[6] = member[int64](v, "now")
	for _, err := range errs {
		if err != nil {
			return p, err
		}
	}
	for _, name := range []string{p.group, p.name} {
		if !validName(name) {
			return p, fmt.Errorf("a program of the name %q: expected one of supervisord", text.Short(name, 64))
		}
	}
	var err error
	p.state, err = wordOf(programStates(), code)
	return p, err
}

// member returns a member of a struct, which must be of this type.
func member[T any](v any, name string) (T, error) {
	fields, _ := v.(map[string]any)
	value, ok := fields[name].(T)
	if !ok {
		return value, fmt.Errorf("no %s, or of another type", name)
	}
	return value, nil
}

// uptime returns for how many seconds a program has been running. It returns false for
// another state, after a step of the clock, and from January 2038 on, the end of the
// numbers of XML-RPC.
func (p program) uptime() (float64, bool) {
	known := p.state == "running" && p.now >= p.start && p.now < math.MaxInt32
	return float64(p.now - p.start), known
}

package supervisor

import (
	"errors"
	"fmt"
	"math"

	"github.com/vitals-health/vitals/collectors"
)

// call asks for both at once: the answers belong together. supervisord's
// multicall takes structs of methodName and params and returns a list of results.
// Source: http://supervisord.org/api.html
const call = `<?xml version="1.0"?><methodCall><methodName>system.multicall</methodName><params><param><value><array><data>` +
	`<value><struct><member><name>methodName</name><value><string>supervisor.getState</string></value></member>` +
	`<member><name>params</name><value><array><data></data></array></value></member></struct></value>` +
	`<value><struct><member><name>methodName</name><value><string>supervisor.getAllProcessInfo</string></value></member>` +
	`<member><name>params</name><value><array><data></data></array></value></member></struct></value>` +
	`</data></array></value></param></params></methodCall>`

// The faults that say more than that something went wrong: class Faults in
// supervisor/xmlrpc.py.
const (
	faultUnknownMethod = 1
	faultShutdownState = 6
)

// answer is what supervisord says of itself and of its programs.
type answer struct {
	// state is the word of states.
	state    string
	programs []program
}

// program is one program, or one of several processes of a program.
type program struct {
	group, name string
	// state is the word of processStates.
	state string
	// exitStatus is that of the last end, -1 by a signal; it means something in the state
	// exited only.
	exitStatus int64
	// spawnErr is why it could not be started, or ended as it should not.
	spawnErr string
	// start and now are seconds since the epoch, at most what 32 bits hold.
	start, now int64
}

// coded is a word for one of supervisord's numbers.
type coded struct {
	code int64
	word string
}

// states are those of supervisord itself. Source: getState in
// http://supervisord.org/api.html
func states() []coded {
	return []coded{{2, "fatal"}, {1, "running"}, {0, "restarting"}, {-1, "shutdown"}}
}

// programStates are those of a program. Source: http://supervisord.org/subprocess.html#process-states
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
	return "", fmt.Errorf("state %d: expected one of supervisord's", code)
}

// readSupervisorAnswer reads what call returns.
func readSupervisorAnswer(v any) (answer, error) {
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
	known := make(map[supervisorName]bool, len(list))
	for i, p := range list {
		if a.programs[i], err = readSupervisorProgram(p); err != nil {
			return answer{}, err
		}
		name := supervisorName{a.programs[i].group, a.programs[i].name}
		if known[name] {
			return answer{}, fmt.Errorf("program %q twice", name)
		}
		known[name] = true
	}
	return a, nil
}

func readSupervisorProgram(v any) (program, error) {
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
		if !validSupervisorName(name) {
			return p, fmt.Errorf("a program of the name %q: expected one of supervisord's", collectors.OneLine(name, 64))
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

// uptime is for how many seconds a program has been running. It is not known of one
// that does not run, after a step of the clock, and from January 2038 on, which is as
// far as XML-RPC's numbers reach.
func (p program) uptime() (float64, bool) {
	known := p.state == "running" && p.now >= p.start && p.now < math.MaxInt32
	return float64(p.now - p.start), known
}

package profiles_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// tripleoCase are the samples of a container, and the verdicts of the rules of the
// profile tripleo.
type tripleoCase struct {
	name string
	// files are shipped rule files without "tripleo-", as a service names them.
	files string
	// series are lines such as up{x="y"} 1. The time is 1700000000.
	series string
	// ready and alive are the deciding rules with their texts, one a line; empty where
	// the state passes without a warning.
	ready, alive string
}

// verdicts evaluates once, with every for as 0.
func (c tripleoCase) verdicts(t *testing.T) (ready, alive string) {
	t.Helper()
	var files []*rules.File
	for name := range strings.FieldsSeq(c.files) {
		f := shippedRules(t, "tripleo-"+name+".yml")
		for i := range f.Groups {
			for j := range f.Groups[i].Rules {
				f.Groups[i].Rules[j].For = 0
			}
		}
		files = append(files, f)
	}
	snap := evaluateOnce(t, files, parseSeries(t, c.series))
	return decided(snap, evaluator.Ready), decided(snap, evaluator.Alive)
}

func parseSeries(t *testing.T, text string) []collectors.Sample {
	t.Helper()
	var all []collectors.Sample
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		i := strings.LastIndex(line, " ")
		ls, err := parser.NewParser(parser.Options{}).ParseMetric(line[:i])
		if err != nil {
			t.Fatal(err)
		}
		v, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, collectors.Sample{Labels: ls, Value: v})
	}
	return all
}

// decided returns the rules that decide a state with their texts.
func decided(snap *evaluator.Snapshot, state string) string {
	st, _ := snap.State(state, epoch())
	var lines []string
	for _, i := range st.Deciding {
		r := snap.Rules[i]
		text := r.Status.String() + " " + r.Summary
		switch {
		case r.Warns:
			text = "warns " + r.Summary
		case r.Status == evaluator.Unknown:
			text = "unknown " + r.Reason
		}
		lines = append(lines, r.Name+": "+text)
	}
	return strings.Join(lines, "\n")
}

func TestTripleoRules(t *testing.T) {
	for _, cases := range [][]tripleoCase{
		tripleoDependencyCases(), tripleoConnectionCases(), tripleoProcessCases(), tripleoFileCases(), tripleoSwiftCases(), tripleoGuessCases(),
	} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				ready, alive := c.verdicts(t)
				if diff := cmp.Diff(c.ready, ready); diff != "" {
					t.Errorf("ready (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.alive, alive); diff != "" {
					t.Errorf("alive (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func tripleoDependencyCases() []tripleoCase {
	down := func(name, reason string) string {
		return `vitals_dependency_up{dependency="` + name + `"} 0
			vitals_dependency_failure{dependency="` + name + `",reason="refused"} ` + flag(reason == "refused") + `
			vitals_dependency_failure{dependency="` + name + `",reason="timeout"} ` + flag(reason == "timeout") + "\n"
	}
	const up = "vitals_dependency_up{dependency=\"keystone\"} 1\n"
	return []tripleoCase{
		{"an API answers", "http", up, "", ""},
		{"an API refuses connections (E04)", "http", down("keystone", "refused"), "APIDown: failing keystone does not answer as it should: refused.", ""},
		{"an API is late (E06)", "http", down("keystone", "timeout"), "APIDown: failing keystone does not answer as it should: timeout.", ""},
		{"nothing is known of an API", "http", "", "APIDown: unknown no data for vitals_dependency_up", ""},
		{"a server is down (E28)", "query", down("redis", "refused"), "ServerDown: failing redis does not answer as it should: refused.", ""},
		{"the broker answers", "broker", `vitals_dependency_up{dependency="rabbitmq"} 1` + "\n" + `vitals_dependency_failure{dependency="rabbitmq",reason="auth"} 0`, "", ""},
		{"the broker is down", "broker", down("rabbitmq", "refused") + `vitals_dependency_failure{dependency="rabbitmq",reason="auth"} 0`,
			"ServerDown: failing rabbitmq does not answer as it should: refused.", ""},
		{"the broker refuses the login", "broker", `vitals_dependency_up{dependency="rabbitmq"} 0` + "\n" + `vitals_dependency_failure{dependency="rabbitmq",reason="auth"} 1` + "\n" + `vitals_dependency_latency_seconds{dependency="rabbitmq"} 0.1`,
			"LoginRefused: warns rabbitmq runs and refuses the login of this check.", ""},
		{"a connection to the broker is forbidden on this side", "broker", `vitals_dependency_up{dependency="rabbitmq"} 0` + "\n" + `vitals_dependency_failure{dependency="rabbitmq",reason="forbidden"} 1`,
			"ServerDown: failing rabbitmq does not answer as it should: forbidden.", ""},
		{"nothing is known of the broker", "broker", "", "ServerDown: unknown no data for vitals_dependency_up", ""},
		{"the dashboard answers", "horizon", `vitals_dependency_up{dependency="horizon"} 1`, "", ""},
		{"the dashboard answers with TLS only", "horizon", `vitals_dependency_up{dependency="horizon-ssl"} 1` + "\n" + down("horizon", "refused"), "", ""},
		{"the dashboard is down", "horizon", down("horizon", "refused"), "APIDown: failing The dashboard does not answer as it should, horizon: refused.", ""},
		{"both virtual hosts of the dashboard are down", "horizon", down("horizon", "refused") + down("horizon-ssl", "timeout"),
			"APIDown: failing The dashboard does not answer as it should, horizon: refused, horizon-ssl: timeout.", ""},
	}
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

// connections are the sockets of a process, by state.
func connections(process, states string) string {
	var b strings.Builder
	for _, port := range []string{"5671", "5672"} {
		for _, state := range []string{"established", "syn_sent", "close_wait", "time_wait"} {
			b.WriteString(`vitals_process_connections{process="` + process + `",port="` + port + `",state="` + state + `"} ` +
				flag(port == "5672" && strings.Contains(states, state)) + "\n")
		}
	}
	return b.String()
}

func tripleoConnectionCases() []tripleoCase {
	const (
		up    = "vitals_process_up{process=\"nova-scheduler\"} 1\n"
		gone  = "vitals_process_up{process=\"nova-scheduler\"} 0\n"
		what  = "RabbitMQNotConnected: failing nova-scheduler has no established connection to RabbitMQ (ports 5671, 5672)"
		files = "rabbitmq alive"
		one   = `{process="x",port="1",state="syn_sent"} 2`
	)
	return []tripleoCase{
		{"connected (E11)", files, up + connections("nova-scheduler", "established"), "", ""},
		{"connected and connecting", files, up + connections("nova-scheduler", "established syn_sent"), "", ""},
		{"connecting only (E12)", files, up + connections("nova-scheduler", "syn_sent"), what + ", 1 in syn_sent.", ""},
		{"left by the other side (E13)", files, up + connections("nova-scheduler", "close_wait"), what + ", 1 in close_wait.", ""},
		{"a closed connection (E14)", files, up + connections("nova-scheduler", "time_wait"), what + ", 1 in time_wait.", ""},
		{"several states", files, up + connections("nova-scheduler", "syn_sent close_wait"), what + ", 1 in close_wait, 1 in syn_sent.", ""},
		{"connected to nothing (E16)", files, up + connections("nova-scheduler", ""), what + ".", ""},
		{"the process is gone (E15)", files, gone,
			"RabbitMQNotConnected: failing nova-scheduler does not run and so has no established connection to RabbitMQ.", "ServiceGone: failing nova-scheduler does not run."},
		{"its sockets cannot be seen", files, up, "RabbitMQNotConnected: failing nova-scheduler has no established connection to RabbitMQ, as its sockets cannot be seen.", ""},
		{"it is unknown whether it runs", files, "", "RabbitMQNotConnected: unknown no data for vitals_process_up", ""},
		{"not connected to Redis", "redis", `vitals_process_up{process="x"} 1` + "\nvitals_process_connections" + one,
			"RedisNotConnected: failing x has no established connection to Redis (ports 1), 2 in syn_sent.", ""},
		{"not connected to the database", "mysql", `vitals_process_up{process="x"} 1` + "\nvitals_process_connections" + one,
			"DatabaseNotConnected: failing x has no established connection to the database (ports 1), 2 in syn_sent.", ""},
		{"not connected to the southbound database", "ovn", `vitals_process_up{process="x"} 1` + "\nvitals_process_connections" + one,
			"SouthboundNotConnected: failing x has no established connection to OVN's southbound database (ports 1), 2 in syn_sent.", ""},
	}
}

func tripleoProcessCases() []tripleoCase {
	const (
		up      = "vitals_process_up{process=\"x\"} 1\n"
		gone    = "vitals_process_up{process=\"x\"} 0\n"
		dead    = "ServiceGone: failing x does not run."
		udp     = `vitals_process_listening{process="x",port="8125",protocol="udp"} `
		tcp     = `vitals_process_listening{process="x",port="873",protocol="tcp"} `
		sockets = "vitals_process_unix_socket{process=\"x\",path=\"/run/x\"} 0\nvitals_process_unix_socket{process=\"x\",path=\"/var/run/x\"} "
	)
	return []tripleoCase{
		{"a process runs", "process alive", up, "", ""},
		{"a process is missing (E15)", "process alive", gone, "ProcessMissing: failing x does not run.", dead},
		{"it listens (E20)", "listen alive", up + tcp + "1", "", ""},
		{"it does not listen (E20)", "listen alive", up + tcp + "0", "NotListening: failing x does not listen on port 873/tcp.", ""},
		{"it does not run and does not listen", "listen alive", gone, "NotListening: failing x does not run and so does not listen.", dead},
		{"its sockets cannot be seen, so it may not listen", "listen", up, "NotListening: failing x does not listen, as its sockets cannot be seen.", ""},
		{"its sockets cannot be seen, so it may not hold one", "socket", up, "SocketNotHeld: failing x does not hold its socket, as its sockets cannot be seen.", ""},
		{"it is bound to UDP (E18)", "listen alive", up + udp + "1", "", ""},
		{"it is not bound to UDP", "listen alive", up + udp + "0", "NotListening: failing x does not listen on port 8125/udp.", ""},
		{"it listens on one of two ports", "listen", up + tcp + "0\n" + udp + "1", "", ""},
		{"it listens on none of two ports", "listen", up + tcp + "0\n" + udp + "0", "NotListening: failing x does not listen on port 8125/udp or 873/tcp.", ""},
		{"it holds its socket (E21)", "socket alive", up + sockets + "1", "", ""},
		{"it does not hold its socket (E21)", "socket alive", up + sockets + "0", "SocketNotHeld: failing x does not hold its socket, /run/x or /var/run/x.", ""},
		{"the holder of a socket is gone (E21)", "socket alive", gone,
			"SocketNotHeld: failing x does not run and so does not hold its socket.", dead},
		{"checks are disabled (E33)", "disabled", "", "ChecksDisabled: warns The checks of this container are disabled, so nothing is known of it.", ""},
		{"checks are disabled, which is no health (E33)", "disabled-fail", "", "ChecksDisabled: failing The checks of this container are disabled, so nothing is known of it.", ""},
	}
}

func tripleoFileCases() []tripleoCase {
	const crond = "vitals_process_up{process=\"crond\"} 1\n"
	lines := func(uncommented, active string) string {
		return "vitals_file_exists{file=\"crontab\"} 1\nvitals_file_uncommented_lines{file=\"crontab\"} " + uncommented + "\nvitals_file_active_lines{file=\"crontab\"} " + active
	}
	const empty = "CrontabEmpty: failing The crontab has no two lines that are no comments, one of them a job."
	return []tripleoCase{
		{"a crontab with two lines (E30)", "crontab process alive", crond + lines("2", "1"), "", ""},
		{"a crontab with one line (E30)", "crontab process alive", crond + lines("1", "1"), empty, ""},
		{"a crontab of variables", "crontab process alive", crond + lines("3", "0"), empty, ""},
		{"a crontab that is not readable", "crontab process alive", crond + `vitals_file_exists{file="crontab"} 1`, empty, ""},
		{"a crontab that is missing (E24)", "crontab process alive", crond + `vitals_file_exists{file="crontab"} 0`, "CrontabEmpty: failing The crontab is missing.", ""},
		{"a crontab without crond (E30)", "crontab process alive", strings.Replace(crond, "} 1", "} 0", 1) + lines("2", "1"),
			"ProcessMissing: failing crond does not run.", "ServiceGone: failing crond does not run."},
	}
}

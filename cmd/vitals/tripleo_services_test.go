package main

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

// tripleoRoles are what containers of one image may be: the processes that run in each,
// and the rule that fails where it does not do its work. A service that is not listed is
// one thing, and all of its processes run.
func tripleoRoles() map[string][]tripleoRole {
	swift := func(name string) []tripleoRole {
		return []tripleoRole{{"swift-" + name + "-server", "APIDown"}, {"swift-" + name + "-replicator", "ReplicationStale"}}
	}
	return map[string][]tripleoRole{
		"horizon":                {{"", "APIDown"}},
		"ironic-inspector":       {{"", "APIDown"}},
		"ironic-pxe":             {{"httpd", "APIDown"}, {"dnsmasq", "NotListening"}, {"in.tftpd", "NotListening"}},
		"mariadb":                {{"", "DatabaseDown"}, {"socat", "DatabaseDown"}},
		"nova-api":               {{"", "APIDown"}, {"metadata", "APIDown"}},
		"nova-compute":           {{"nova-compute", "RabbitMQNotConnected"}, {"sshd", "NotListening"}},
		"swift-account-server":   swift("account"),
		"swift-container-server": swift("container"),
		"swift-object-server":    append(swift("object"), tripleoRole{"rsync", "NotListening"}),
		"swift-proxy":            swift("proxy")[:1],
	}
}

// tripleoRole is a process, or none, and the rule for it.
type tripleoRole struct{ process, rule string }

// tripleoRule is the rule that fails where a service that is one thing does not work.
func tripleoRule(s tripleo.Service) string {
	return map[string]string{
		"http": "APIDown", "query": "ServerDown", "broker": "ServerDown", "rabbitmq": "RabbitMQNotConnected", "redis": "RedisNotConnected",
		"mysql": "DatabaseNotConnected", "ovn": "SouthboundNotConnected", "listen": "NotListening", "socket": "SocketNotHeld",
		"process": "ProcessMissing", "crontab": "CrontabEmpty",
	}[s.Rules[0]]
}

// arguments are those that a service requires.
func tripleoArguments(s tripleo.Service) []string {
	if s.Arguments == tripleo.Daemon {
		return []string{"arguments=virtlogd"}
	}
	return nil
}

// Each of the 71 services passes without faults, fails by the right rule if everything
// fails, and never passes if its files and processes are missing.
func TestTripleoServices(t *testing.T) {
	for _, s := range tripleo.Services() {
		roles := tripleoRoles()[s.Name]
		if roles == nil {
			roles = []tripleoRole{{"*", tripleoRule(s)}}
		}
		for _, role := range roles {
			t.Run(strings.TrimSuffix(s.Name+" "+strings.Trim(role.process, "*"), " "), func(t *testing.T) {
				t.Parallel()
				testTripleoService(t, s, role)
			})
		}
	}
}

func testTripleoService(t *testing.T, s tripleo.Service, role tripleoRole) {
	settings := append(tripleoArguments(s), "service="+s.Name)
	if s.Arguments == tripleo.Daemon {
		var err error
		if s, err = s.WithArguments("virtlogd"); err != nil {
			t.Fatal(err)
		}
	}
	var running []string
	for _, p := range s.Processes {
		if role.process == "*" || role.process == p.Name {
			running = append(running, p.Name)
		}
	}
	c := newContainer(t)
	c.install(t)
	c.sockets(t)
	c.runs(t, s, running, unchanged)
	if code, out := c.once(t, "ready", "plain", settings...); code != 0 || !strings.HasPrefix(out, "ok 0 ready: ") {
		t.Errorf("where all is well: %d %s\n%s, want 0", code, out, c.log.String())
	}
	c.wantAlive(t, s, true, settings)

	c.spoil(t)
	aProcess := s.Rules[0] == "process"
	if aProcess {
		running = nil
	}
	c.runs(t, s, running, broken)
	code, out := c.once(t, "ready", "plain", settings...)
	if code != 1 || !strings.HasPrefix(out, "failing 1 "+role.rule+" failing: ") {
		t.Errorf("where nothing is well: %d %s, want 1 %s", code, out, role.rule)
	}
	c.wantAlive(t, s, !aProcess, settings)

	if err := os.RemoveAll(c.root("")); err != nil {
		t.Fatal(err)
	}
	c.proc(t)
	code, out = c.once(t, "ready", "plain", settings...)
	switch {
	case s.MayMiss == "" && len(s.ConfigFiles()) > 0, s.MayMiss == tripleo.Some:
		if want := c.root(s.ConfigFiles()[0]); code != exitConfig || !strings.Contains(out, want) {
			t.Errorf("without its files: %d %s, want %d and the name of %s", code, out, exitConfig, want)
		}
	default:
		if code != exitFailing && code != exitUnknown {
			t.Errorf("where nothing is: %d %s, want %d or %d", code, out, exitFailing, exitUnknown)
		}
		c.wantAlive(t, s, false, settings)
	}
	if strings.Contains(out+c.log.String(), "s3cret") {
		t.Errorf("the output shows a secret:\n%s%s", out, c.log.String())
	}
}

// wantAlive checks whether the service is alive: by its own process alone, and not at all
// where the container may be several things.
func (c *container) wantAlive(t *testing.T, s tripleo.Service, alive bool, settings []string) {
	t.Helper()
	code, out := c.once(t, "alive", "plain", settings...)
	want := "failing 1 ServiceGone failing: "
	switch {
	case !slices.Contains(s.Rules, "alive"):
		want = "no rules 8 alive: "
	case alive:
		want = "ok 0 alive: "
	}
	if !strings.HasPrefix(out, want) {
		t.Errorf("alive: %d %s, want %s", code, out, want)
	}
}

// spoil has every server fail or end, and leaves files behind that are too old or empty.
func (c *container) spoil(t *testing.T) {
	t.Helper()
	c.status.Store(http.StatusServiceUnavailable)
	c.write(t, "var/spool/cron/root", "# nothing\n")
	for _, name := range []string{"account", "container", "object"} {
		c.write(t, "var/cache/swift/"+name+".recon", `{"replication_last": 1600000000.5}`)
	}
	for _, shut := range c.shut {
		shut()
	}
}

// Programs that check the exit code instead of a word are not misled: Docker's style has 0 and
// 1, and no healthy container is called anything with "healthy" in it.
func TestTripleoStyleOfDocker(t *testing.T) {
	c := newContainer(t)
	c.install(t)
	if code, out := c.once(t, "ready", "docker", "service=keystone"); code != 0 || !strings.HasPrefix(out, "ok 0 ready: ") {
		t.Errorf("where all is well: %d %s, want 0", code, out)
	}
	c.status.Store(http.StatusServiceUnavailable)
	code, out := c.once(t, "ready", "docker", "service=keystone")
	if code != 1 || !strings.HasPrefix(out, "failing 1 APIDown") || strings.Contains(out, "healthy") {
		t.Errorf("E32: where the API fails: %d %s, want 1 and nothing healthy", code, out)
	}
	if code, out := c.once(t, "ready", "docker", "service=keystoen"); code != 1 || !strings.HasPrefix(out, "usage error 1 ") {
		t.Errorf("of a service that does not exist: %d %s, want 1", code, out)
	}
}

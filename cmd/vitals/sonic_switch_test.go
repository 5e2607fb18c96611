package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/common/promslog"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/fakes"
)

// featureTable is a Redis with SONiC's table FEATURE. It is safe for concurrent use.
type featureTable struct {
	mu     sync.Mutex // guards what follows
	states map[string]string
}

func (f *featureTable) set(feature, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[feature] = state
}

// serve answers on a Unix socket until the test ends.
func (f *featureTable) serve(t *testing.T, socket string) {
	t.Helper()
	collectortest.ListenOn(t, "unix", socket, nil, f.answer)
}

// answer responds to commands of one line each, and to PING as the collector sends it.
// It ignores the lengths before them.
func (f *featureTable) answer(conn net.Conn) {
	for in := bufio.NewScanner(conn); in.Scan(); {
		words := append(strings.Fields(in.Text()), "", "", "")
		answer := ""
		switch words[0] {
		case "SELECT", "QUIT":
			answer = "+OK\r\n"
		case "PING":
			answer = "+PONG\r\n"
		case "HGET":
			f.mu.Lock()
			state, ok := f.states[strings.TrimPrefix(words[1], "FEATURE|")]
			f.mu.Unlock()
			answer = fmt.Sprintf("$%d\r\n%s\r\n", len(state), state)
			if !ok {
				answer = "$-1\r\n"
			}
		}
		if _, err := conn.Write([]byte(answer)); err != nil || words[0] == "QUIT" {
			return
		}
	}
}

// sonicSwitch is the host of a switch, and Vitals on it, as on the page.
type sonicSwitch struct {
	*sonicLab
	features *featureTable
	systemd  *fakes.Systemd
}

func startSonicSwitch(t *testing.T) *sonicSwitch {
	t.Helper()
	dir := collectortest.Dir(t)
	s := &sonicSwitch{&sonicLab{dir: dir, log: &lines{}, socket: dir + "/v.sock"}, &featureTable{states: map[string]string{}}, nil}
	s.features.serve(t, s.path("redis.sock"))
	s.units(t, "monit.service", "snmp.service")
	t.Cleanup(func() { _ = s.systemd.Close() })
	s.well(t)
	_, section, _ := strings.Cut(readDoc(t, sonicDocument), "\n## The switch itself\n")
	blocks := docFences(sonicDocument, section, "yaml")
	writeFile(t, s.path("rules.yml"), strings.ReplaceAll(blocks[1].text, "for: 5s", "for: 200ms"))
	config := strings.NewReplacer("/var/run/redis/", dir+"/", "systemd: {", "systemd: {bus: "+dir+"/bus, ", "    interval: 1m\n", "",
		"monit summary -B", "cat "+dir+"/monit", "/usr/local/bin/check_sensors", dir+"/hook").Replace(blocks[0].text)
	config = "evaluation_interval: 100ms\n" + strings.ReplaceAll(config, "  - name: ", "  - interval: 500ms\n    timeout: 500ms\n    name: ")
	writeFile(t, s.path("vitals.yml"), config)
	s.run(t, &program{configFile: s.path("vitals.yml"), log: &promslog.Config{Writer: s.log}, levelGiven: true})
	return s
}

// units makes systemd report that these units are active, and no others.
func (s *sonicSwitch) units(t *testing.T, active ...string) {
	t.Helper()
	if s.systemd != nil {
		if err := s.systemd.Close(); err != nil {
			t.Fatal(err)
		}
	}
	known := map[string]fakes.SystemdUnit{}
	for _, unit := range active {
		known[unit] = fakes.SystemdUnit{Load: "loaded", Active: "active", Properties: map[string]any{
			"Unit.ActiveEnterTimestamp": uint64(1_700_000_000_000_000), "Service.Result": "success", "Service.NRestarts": uint32(0),
		}}
	}
	var err error
	if s.systemd, err = fakes.StartSystemd(s.path("bus"), known); err != nil {
		t.Fatal(err)
	}
}

const (
	wellMonit = `Monit 5.34.3 uptime: 1h 25m
 Service Name                     Status                      Type
 sonic                            OK                          System
 root-overlay                     OK                          Filesystem
 container_checker                OK                          Program
`
	wellFan    = "fan1_present=1 fan1_intake=1 fan1_speed=60%;;;20;100 fan2_present=1 fan2_intake=1 fan2_speed=61%;;;20;100"
	wellSupply = "psu1_voltage=12.1;;;11.4;12.6"
)

// monit is the output of Monit, and sensors that of the plugin.
func (s *sonicSwitch) monit(t *testing.T, text string) {
	t.Helper()
	s.checker(t, "monit", strings.TrimSuffix(text, "\n"))
}

func (s *sonicSwitch) sensors(t *testing.T, data string) {
	t.Helper()
	hook("echo 'sensors | "+data+"'", 0o755)(t, s.sonicLab)
}

// well removes all faults: lldp does not run, and need not.
func (s *sonicSwitch) well(t *testing.T) {
	t.Helper()
	s.features.set("snmp", "enabled")
	s.features.set("lldp", "disabled")
	s.monit(t, wellMonit)
	s.sensors(t, wellFan+" "+wellSupply)
}

func TestSonicSwitch(t *testing.T) {
	t.Parallel()
	s := startSonicSwitch(t)
	for _, c := range []struct {
		id, name string
		given    func(*testing.T)
		rule     string // "" without a fault
		words    string
	}{
		{"E65", "a container that FEATURE enables does not run", func(*testing.T) { s.features.set("lldp", "enabled") }, "FeatureNotRunning", "lldp.service does not run"},
		{"E65", "a container that FEATURE always enables does not run", func(*testing.T) { s.features.set("lldp", "always_enabled") }, "FeatureNotRunning", "lldp.service does not run"},
		{"E65", "a container that ran does not run", func(t *testing.T) { s.units(t, "monit.service") }, "FeatureNotRunning", "snmp.service does not run"},
		{"E66", "FEATURE disables a container", func(t *testing.T) { s.features.set("snmp", "disabled"); s.units(t, "monit.service") }, "", ""},
		{"E66", "FEATURE always disables a container", func(t *testing.T) { s.features.set("snmp", "always_disabled"); s.units(t, "monit.service") }, "", ""},
		{"E68", "Monit is not active", func(t *testing.T) { s.units(t, "snmp.service") }, "MonitNotActive", "Monit does not run"},
		{"E68", "a row of Monit is not OK", func(t *testing.T) {
			s.monit(t, strings.Replace(wellMonit, "OK                          Program", "Status failed               Program", 1))
		}, "MonitNotOK", "container_checker is not OK"},
		{"E69", "a fan is missing", func(t *testing.T) {
			s.sensors(t, strings.Replace(wellFan, "fan2_present=1", "fan2_present=0", 1)+" "+wellSupply)
		}, "FanMissing", "fan2_present"},
		{"E69", "a fan is too slow", func(t *testing.T) { s.sensors(t, strings.Replace(wellFan, "=60%", "=10%", 1)+" "+wellSupply) }, "SensorOutOfRange", "fan1_speed is 0.1"},
		{"E69", "a fan is too fast", func(t *testing.T) { s.sensors(t, strings.Replace(wellFan, "=61%", "=101%", 1)+" "+wellSupply) }, "SensorOutOfRange", "fan2_speed is 1.01"},
		{"E69", "a fan turns the other way", func(t *testing.T) {
			s.sensors(t, strings.Replace(wellFan, "fan2_intake=1", "fan2_intake=0", 1)+" "+wellSupply)
		}, "FansTurnAgainstEachOther", ""},
		{"E70", "a power supply has a voltage and no thresholds", func(t *testing.T) { s.sensors(t, wellFan+" psu1_voltage=12.1") }, "SensorWithoutRange", "psu1_voltage has no range"},
		{"E70", "a power supply has a voltage and one threshold", func(t *testing.T) { s.sensors(t, wellFan+" psu1_voltage=12.1;;;;12.6") }, "SensorWithoutRange", "psu1_voltage has no range"},
	} {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			s.await(t, "ready", sonicVerdict{})
			c.given(t)
			want := sonicVerdict{120, c.rule, []string{c.words}}
			if c.rule == "" {
				want = sonicVerdict{}
				s.rounds(t, "units", 2)
				s.rounds(t, "feature-snmp", 2)
			}
			s.await(t, "ready", want)
			s.well(t)
			s.units(t, "monit.service", "snmp.service")
			s.await(t, "ready", sonicVerdict{})
		})
	}
}

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/unit"
)

const (
	systemdUnit = "deploy/systemd/vitals.service"
	systemdPage = "docs/guides/systemd.md"
)

// unitOptions are the options of the unit's sections by their names.
func unitOptions(t *testing.T) map[string]string {
	t.Helper()
	options, err := unit.DeserializeOptions(strings.NewReader(readDoc(t, systemdUnit)))
	if err != nil {
		t.Fatalf("%s: %v", systemdUnit, err)
	}
	found := map[string]string{}
	for _, o := range options {
		key := o.Section + "." + o.Name
		if _, twice := found[key]; twice {
			t.Errorf("%s has %s twice, want it once", systemdUnit, key)
		}
		found[key] = o.Value
	}
	return found
}

// The program does what the unit declares.
func TestSystemdUnit(t *testing.T) {
	options := unitOptions(t)
	for key, want := range map[string]string{
		"Service.Type":                     "notify",
		"Service.ExecReload":               "/bin/kill -HUP $MAINPID",
		"Service.Restart":                  "on-failure", // after the watchdog, too
		"Service.RestartPreventExitStatus": "3",          // exitConfig: it would be the same mistake
		"Service.RuntimeDirectory":         "vitals",     // of defaultSocket
		"Service.StateDirectory":           "vitals",     // of --storage.path on the page
		"Service.StateDirectoryMode":       "0700",
		"Install.WantedBy":                 "multi-user.target",
	} {
		if got := options[key]; got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	// The stall guard's 5 s must have passed before half of it is over twice.
	if watchdog, err := time.ParseDuration(options["Service.WatchdogSec"]); err != nil || watchdog < 10*time.Second {
		t.Errorf("WatchdogSec = %v, %v, want at least 10s", watchdog, err)
	}
	command := strings.Fields(options["Service.ExecStart"])
	if len(command) != 3 || command[0] != "/usr/local/bin/vitals" || !slices.Contains(docCommands(t)[command[1]], "config.file") {
		t.Fatalf("ExecStart = %q, want vitals, a command and --config.file", command)
	}
	if got := flagOf(t, command[2:], "config.file"); got != "/etc/vitals/vitals.yml" {
		t.Errorf("--config.file = %q, want /etc/vitals/vitals.yml", got)
	}
}

// The unit gives the program no more than it needs; no option that would is missing.
func TestSystemdUnitIsHardened(t *testing.T) {
	options := unitOptions(t)
	for _, name := range []string{
		"DynamicUser", "LockPersonality", "MemoryDenyWriteExecute", "NoNewPrivileges", "PrivateDevices", "PrivateMounts", "PrivateTmp", "ProtectClock",
		"ProtectControlGroups", "ProtectHome", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables",
		"RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID",
	} {
		if got := options["Service."+name]; got != "yes" {
			t.Errorf("%s = %q, want yes", name, got)
		}
	}
	for name, want := range map[string]string{
		"CapabilityBoundingSet": "", "AmbientCapabilities": "", "ProtectSystem": "strict",
		"SystemCallFilter": "@system-service", "UMask": "0077", "SystemCallArchitectures": "native",
		"RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX AF_NETLINK", // the last for the kind netlink
	} {
		if got, ok := options["Service."+name]; !ok || got != want {
			t.Errorf("%s = %q, present %t, want %q", name, got, ok, want)
		}
	}
}

func TestOperationsPageShowsTheSystemdUnit(t *testing.T) {
	if !strings.Contains(readDoc(t, systemdPage), "```ini\n"+readDoc(t, systemdUnit)+"```\n") {
		t.Errorf("%s does not show %s as it is", systemdPage, systemdUnit)
	}
}

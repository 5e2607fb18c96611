package capability_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors/capability"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

// kernelCapabilities are the names with the numbers of linux/capability.h.
func kernelCapabilities() map[string]int {
	return map[string]int{
		"CHOWN": unix.CAP_CHOWN, "DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "DAC_READ_SEARCH": unix.CAP_DAC_READ_SEARCH, "FOWNER": unix.CAP_FOWNER,
		"FSETID": unix.CAP_FSETID, "KILL": unix.CAP_KILL, "SETGID": unix.CAP_SETGID, "SETUID": unix.CAP_SETUID, "SETPCAP": unix.CAP_SETPCAP,
		"LINUX_IMMUTABLE": unix.CAP_LINUX_IMMUTABLE, "NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE, "NET_BROADCAST": unix.CAP_NET_BROADCAST,
		"NET_ADMIN": unix.CAP_NET_ADMIN, "NET_RAW": unix.CAP_NET_RAW, "IPC_LOCK": unix.CAP_IPC_LOCK, "IPC_OWNER": unix.CAP_IPC_OWNER,
		"SYS_MODULE": unix.CAP_SYS_MODULE, "SYS_RAWIO": unix.CAP_SYS_RAWIO, "SYS_CHROOT": unix.CAP_SYS_CHROOT, "SYS_PTRACE": unix.CAP_SYS_PTRACE,
		"SYS_PACCT": unix.CAP_SYS_PACCT, "SYS_ADMIN": unix.CAP_SYS_ADMIN, "SYS_BOOT": unix.CAP_SYS_BOOT, "SYS_NICE": unix.CAP_SYS_NICE,
		"SYS_RESOURCE": unix.CAP_SYS_RESOURCE, "SYS_TIME": unix.CAP_SYS_TIME, "SYS_TTY_CONFIG": unix.CAP_SYS_TTY_CONFIG, "MKNOD": unix.CAP_MKNOD,
		"LEASE": unix.CAP_LEASE, "AUDIT_WRITE": unix.CAP_AUDIT_WRITE, "AUDIT_CONTROL": unix.CAP_AUDIT_CONTROL, "SETFCAP": unix.CAP_SETFCAP,
		"MAC_OVERRIDE": unix.CAP_MAC_OVERRIDE, "MAC_ADMIN": unix.CAP_MAC_ADMIN, "SYSLOG": unix.CAP_SYSLOG, "WAKE_ALARM": unix.CAP_WAKE_ALARM,
		"BLOCK_SUSPEND": unix.CAP_BLOCK_SUSPEND, "AUDIT_READ": unix.CAP_AUDIT_READ, "PERFMON": unix.CAP_PERFMON, "BPF": unix.CAP_BPF,
		"CHECKPOINT_RESTORE": unix.CAP_CHECKPOINT_RESTORE,
	}
}

// Each name stands for its number: a process with one capability alone has that one
// and no other.
func TestNamesHaveTheirNumbers(t *testing.T) {
	all := kernelCapabilities()
	if len(all) != unix.CAP_LAST_CAP+1 {
		t.Fatalf("%d names are tested, want %d", len(all), unix.CAP_LAST_CAP+1)
	}
	names := slices.Sorted(maps.Keys(all))
	mount := proctest.ProcFS(t, proctest.Process{PID: 50, Comm: "x"})
	c := collectortest.New(t, "p", "capabilities: ["+strings.Join(names, ", ")+"]\nprocess: {pid: 50, procfs: "+mount+"}", &capability.Config{})
	for name, number := range all {
		collectortest.Write(t, filepath.Join(mount, "50", "status"), fmt.Sprintf("CapEff:\t%016x\nCapPrm:\t0\nCapBnd:\t0\nCapAmb:\t0\n", uint64(1)<<number))
		samples, err := collectortest.Collect(t, c)
		var has []string
		for _, s := range samples {
			if s.Value == 1 {
				has = append(has, s.Labels.Get("set")+" "+s.Labels.Get("capability"))
			}
		}
		if got, want := strings.Join(has, ", "), "effective "+name; got != want || err != nil {
			t.Errorf("a process with %s alone has %q, %v, want %q and no error", name, got, err, want)
		}
	}
}

// capget(2) and proc(5) return the same.
func TestForReal(t *testing.T) {
	for _, which := range []string{"", "process: {}\n"} {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&header, &data[0]); err != nil {
			t.Fatal(err)
		}
		for name, number := range kernelCapabilities() {
			c := collectortest.New(t, "p", "capabilities: [CAP_"+name+"]\n"+which, &capability.Config{})
			samples, err := collectortest.Collect(t, c)
			if err != nil {
				t.Fatalf("Collect() = %v, want no error", err)
			}
			for set, words := range map[string][2]uint32{
				"effective": {data[0].Effective, data[1].Effective}, "permitted": {data[0].Permitted, data[1].Permitted},
			} {
				got, ok := collectortest.Value(samples, fmt.Sprintf(`vitals_process_capability{capability=%q,process="p",set=%q}`, name, set))
				if want := float64(words[number/32] >> (number % 32) & 1); got != want || !ok {
					t.Errorf("%s in the %s set = %v, %v, want %v", name, set, got, ok, want)
				}
			}
		}
	}
}

// A status that may not be read is forbidden; that is not the same as no process.
func TestIsForbidden(t *testing.T) {
	mount := proctest.ProcFS(t, proctest.Kuryr()...)
	proctest.OpenAll(t, mount)
	proctest.CloseFile(t, mount+"/41/status")
	c := collectortest.New(t, "p", "capabilities: [NET_ADMIN]\nprocess: {name: kuryr-daemon, procfs: "+mount+"}", &capability.Config{})
	proctest.AsOther(t, func() {
		samples, err := c.Collect(t.Context())
		want := "forbidden: read capabilities of process 41: open " + mount + "/41/status: permission denied"
		if got := failure(samples, err); got != want {
			t.Errorf("Collect() failed with %q, want %q", got, want)
		}
		if got, want := outcome(samples, "NET_ADMIN"), "unknown unknown unknown unknown"; got != want {
			t.Errorf("Collect() = %s, want %s", got, want)
		}
	})
}

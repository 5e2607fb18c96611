package process

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// FuzzProcFiles parses the files of a process in proc(5).
func FuzzProcFiles(f *testing.F) {
	f.Add([]byte("S 1 1 1 0 -1 4194560 1 0 0 0 1 2 3 4 20 0 7 0 1234 56789 42 18446744073709551615 1"), "daemon")
	f.Add([]byte("Max open files            1024                 524288               files     \n"), "unlimited")
	f.Add([]byte("Name:\tx\nNSpid:\t7\t1\nCapEff:\t1\n"), "NSpid")
	f.Add([]byte("0::/kubepods/pod1/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/x (deleted)\n"), "/kubepods")
	f.Add([]byte("/usr/bin/python3\x00/usr/bin/neutron-dhcp-agent\x00--config-file\x00/a"), "neutron-dhcp-agent")
	f.Add([]byte("4:memory:/../a\n1:name=systemd:/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef:x"), "/..")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		before := bytes.Clone(data)
		checkStat(t, data, text)
		if n, err := parseMaxFDs(data); n < 0 || math.IsNaN(n) || err != nil && n != 0 {
			t.Errorf("parseMaxFDs(%q) = %v, %v, want a limit or an error", data, n, err)
		}
		if value, ok := StatusLine(data, text); ok && bytes.ContainsAny(value, "\n") || !ok && value != nil {
			t.Errorf("StatusLine(%q, %q) = %q, %t, want one line", data, text, value, ok)
		}
		if n := pidNamespaces(data); n < 0 || n > len(data) {
			t.Errorf("pidNamespaces(%q) = %d", data, n)
		}
		checkCgroup(t, data, text)
		checkCommand(t, data, text)
		if !bytes.Equal(before, data) {
			t.Errorf("the parsers changed %q to %q", before, data)
		}
	})
}

// checkStat parses a stat whose process chose its name itself.
func checkStat(t *testing.T, rest []byte, name string) {
	t.Helper()
	got, err := parseStat(append([]byte("7 (x) "), rest...))
	if err != nil && got != (processStat{}) {
		t.Errorf("parseStat(%q) = %+v, %v, want an error alone", rest, got, err)
	}
	if bytes.IndexByte(rest, ')') >= 0 {
		return
	}
	if named, errNamed := parseStat([]byte("7 (" + name + ") " + string(rest))); named != got || (err == nil) != (errNamed == nil) {
		t.Errorf("parseStat() of a process %q = %+v, %v, want %+v, %v", name, named, errNamed, got, err)
	}
}

func checkCgroup(t *testing.T, lines []byte, cgroup string) {
	t.Helper()
	inCgroup(lines, cgroup)
	if cgroup != "" && !strings.Contains(cgroup, "\n") {
		below := []byte("0::" + strings.TrimSuffix(cgroup, "/") + "/a\n" + string(lines))
		if !inCgroup(below, cgroup) {
			t.Errorf("inCgroup(%q, %q) = false, want true", below, cgroup)
		}
	}
	if inside := insideContainer("", lines); inside != nil && !inside(lines) {
		t.Errorf("a process with the cgroups %q is not inside its own container", lines)
	}
}

func checkCommand(t *testing.T, cmdline []byte, name string) {
	t.Helper()
	if name == "" || strings.Contains(name, "\x00") {
		return
	}
	if with := append(append(bytes.Clone(cmdline), 0), name...); !hasArgument(with, name) {
		t.Errorf("hasArgument(%q, %q) = false, want true", with, name)
	}
	if titled([]byte(name), name) || !titled([]byte(name+": worker"), name) {
		t.Errorf("titled() of %q, want true with a colon alone", name)
	}
	if len(name) >= commBytes && !sameLongName(name, append([]byte(name+"\x00"), cmdline...), "") {
		t.Errorf("sameLongName(%q) before %q = false, want true", name, cmdline)
	}
}

// FuzzPIDFile reads a PID file of any content. An error never contains it.
func FuzzPIDFile(f *testing.F) {
	for _, content := range []string{"42\n", " 7 \nx", "", "-1", "0", "99999999999999999999", "secret\n", "1\x00"} {
		f.Add([]byte(content))
	}
	path := filepath.Join(f.TempDir(), "pid")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		pid, err := readPIDFile(path)
		if err != nil {
			if want := "read PID file " + path + ": its first line is no number of a process"; pid != 0 || err.Error() != want {
				t.Errorf("readPIDFile() of %q = %d, %v, want %s", content, pid, err, want)
			}
			return
		}
		line, _, _ := strings.Cut(string(content), "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(line)); pid <= 0 || err == nil && n != pid {
			t.Errorf("readPIDFile() of %q = %d, want %d", content, pid, n)
		}
	})
}

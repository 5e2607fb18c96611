package cgroup

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vitals-health/vitals/collectors"
)

func TestParseBytes(t *testing.T) {
	tests := []struct {
		name, text string
		want       float64
		ok         bool
	}{
		{"500 MiB and a line break", "524288000\n", 500 << 20, true},
		{"without a line break", "524288000", 500 << 20, true},
		{"nothing used", "0\n", 0, true},
		{"the largest", "18446744073709551615\n", math.MaxUint64, true},
		{"beyond the largest", "18446744073709551616\n", 0, false},
		{"empty", "", 0, false},
		{"a line break alone", "\n", 0, false},
		{"two lines", "1\n2\n", 0, false},
		{"negative", "-1\n", 0, false},
		{"with a unit", "500M\n", 0, false},
		{"a fraction", "1.5\n", 0, false},
		{"hexadecimal", "0x10\n", 0, false},
		{"a blank before", " 1\n", 0, false},
		{"a limit", "max\n", 0, false},
		{"NUL", "1\x00\n", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := parseBytes([]byte(tt.text)); got != tt.want || (err == nil) != tt.ok {
				t.Errorf("parseBytes(%q) = %v, %v, want %v (ok %v)", tt.text, got, err, tt.want, tt.ok)
			}
		})
	}
}

func TestParseLimit(t *testing.T) {
	none := math.Inf(1)
	tests := []struct {
		name, text string
		want       float64
		ok         bool
	}{
		{"v2, a limit", "536870912\n", 512 << 20, true},
		{"v2, nothing allowed", "0\n", 0, true},
		{"v2, none", "max\n", none, true},
		{"v1, none, pages of 4 KiB", "9223372036854771712\n", none, true},
		{"v1, none, pages of 16 KiB", "9223372036854759424\n", none, true},
		{"v1, none, pages of 64 KiB", "9223372036854710272\n", none, true},
		{"v1, none before Linux 3.19", "9223372036854775807\n", none, true},
		{"v1, one exbibyte", "1152921504606846976\n", 1 << 60, true},
		{"v1, four exbibytes", "4611686018427387904\n", 1 << 62, true},
		{"garbage", "maximum\n", 0, false},
		{"empty", "", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := parseLimit([]byte(tt.text)); got != tt.want || (err == nil) != tt.ok {
				t.Errorf("parseLimit(%q) = %v, %v, want %v (ok %v)", tt.text, got, err, tt.want, tt.ok)
			}
		})
	}
}

func TestParseKey(t *testing.T) {
	const stat = "anon 7\ninactive_file 42\ntotal_inactive_file 43\nempty \nlast 44"
	tests := []struct {
		key  string
		want float64
		text string
	}{
		{"inactive_file", 42, ""},
		{"total_inactive_file", 43, ""},
		{"last", 44, ""},
		{"file", 0, "file: no such line"},
		{"inactive", 0, "inactive: no such line"},
		{"empty", 0, `empty: "" is not a number of bytes`},
	}
	for _, tt := range tests {
		got, err := parseKey([]byte(stat), tt.key)
		if got != tt.want || tt.text == "" && err != nil || tt.text != "" && fmt.Sprint(err) != tt.text {
			t.Errorf("parseKey(%s) = %v, %v, want %v, %s", tt.key, got, err, tt.want, tt.text)
		}
	}
}

func TestParsePressure(t *testing.T) {
	some := pressure{"some", 1.5, 0.25, 0, 123456}
	full := pressure{"full", 100, 0, 0.01, 0}
	const someLine, fullLine = "some avg10=1.50 avg60=0.25 avg300=0.00 total=123456\n", "full avg10=100.00 avg60=0.00 avg300=0.01 total=0\n"
	tests := []struct {
		name, text string
		want       []pressure
	}{
		{"some and full", someLine + fullLine, []pressure{some, full}},
		{"some alone", someLine, []pressure{some}},
		{"a kind that is not known yet", "most avg10=x\n" + someLine, []pressure{some}},
		{"more values than are known", strings.TrimSuffix(fullLine, "\n") + " avg900=1.00\n", []pressure{full}},
		{"the same kind twice", someLine + someLine, []pressure{some}},
		{"empty", "", nil},
		{"no values", "some\n", nil},
		{"a value missing", "some avg10=0.00 avg60=0.00 total=0\n", nil},
		{"not a number", "some avg10=NaN avg60=0.00 avg300=0.00 total=0\n", nil},
		{"infinite", "some avg10=0.00 avg60=0.00 avg300=0.00 total=Inf\n", nil},
		{"negative", "some avg10=-1.00 avg60=0.00 avg300=0.00 total=0\n", nil},
		{"more than all of the time", "some avg10=100.01 avg60=0.00 avg300=0.00 total=0\n", nil},
		{"one good and one bad line", someLine + "full avg10=\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parsePressure([]byte(tt.text))
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(pressure{})); diff != "" || (err == nil) != (tt.want != nil) {
				t.Errorf("parsePressure(%q) = %v, %v (-want +got):\n%s", tt.text, got, err, diff)
			}
		})
	}
}

func TestParseMount(t *testing.T) {
	tests := []struct {
		name, line string
		want       mount
		ok         bool
	}{
		{"v1", "40 33 0:34 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory", mount{34, "/", "/sys/fs/cgroup/memory", false, true}, true},
		{"v1, another controller", "40 33 0:34 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", mount{34, "/", "/sys/fs/cgroup/cpu", false, false}, true},
		{"v1, a part", "40 33 0:34 /docker/4f1e /sys/fs/cgroup/memory ro master:15 - cgroup cgroup rw,memory", mount{34, "/docker/4f1e", "/sys/fs/cgroup/memory", false, true}, true},
		{"v2", "40 33 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot", mount{26, "/", "/sys/fs/cgroup", true, false}, true},
		{"v2, several optional fields", "40 33 0:26 / /cg rw shared:9 master:3 propagate_from:2 unbindable - cgroup2 none rw", mount{26, "/", "/cg", true, false}, true},
		{"a source without a name", "40 33 0:26 / /cg rw - cgroup2  rw", mount{26, "/", "/cg", true, false}, true},
		{"escapes", `40 33 0:26 /a\040b /c\134d\011\012 rw - cgroup2 x rw`, mount{26, "/a b", "/c\\d\t\n", true, false}, true},
		{"escapes that are none", `40 33 0:26 /a\9 /b\04 rw - cgroup2 x rw`, mount{26, `/a\9`, `/b\04`, true, false}, true},
		{"a large number of a device", "40 33 300:700 / /cg rw - cgroup2 x rw", mount{700&0xff | 300<<8 | 0x200<<12, "/", "/cg", true, false}, true},
		{"another file system", "24 29 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw", mount{}, true},
		{"empty", "", mount{}, false},
		{"no separator", "40 33 0:26 / /cg rw cgroup2 cgroup2 rw", mount{}, false},
		{"nothing after the separator", "40 33 0:26 / /cg rw -", mount{}, false},
		{"no number of a device", "40 33 a:b / /cg rw - cgroup2 x rw", mount{}, false},
		{"half a number of a device", "40 33 26 / /cg rw - cgroup2 x rw", mount{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseMount(tt.line)
			if got != tt.want || (err == nil) != tt.ok {
				t.Errorf("parseMount(%q) = %+v, %v, want %+v (ok %v)", tt.line, got, err, tt.want, tt.ok)
			}
		})
	}
}

// A mount table may be long, and a line of it, too. One line that is none spoils it.
func TestParseMounts(t *testing.T) {
	const line = "40 33 0:26 / /cg rw - cgroup2 cgroup2 rw\n"
	layers := "50 33 0:99 / /var/lib rw - overlay overlay rw,lowerdir=" + strings.Repeat("/layer:", 50_000) + "\n"
	other := strings.Replace(line, "/cg", "/other", 1)
	got, err := parseMounts(strings.NewReader(layers + other + strings.Repeat("24 29 0:22 / /sys rw - sysfs sysfs rw\n", 50_000) + line))
	if len(got) != 2 || err != nil {
		t.Errorf("parseMounts() = %v, %v, want two mounts", got, err)
	}
	for name, table := range map[string]string{"garbage": line + "garbage\n", "an endless line": strings.Repeat("x", 2<<20)} {
		if got, err := parseMounts(strings.NewReader(table)); reasonOf(err) != unreadable {
			t.Errorf("parseMounts() of %s = %v, %v, want it unreadable", name, got, err)
		}
	}
}

func TestReasonOfCgroup(t *testing.T) {
	of := func(err error) error {
		return fmt.Errorf("read cgroup: %w", &fs.PathError{Op: "read", Path: "x", Err: err})
	}
	tests := []struct {
		err  error
		want reason
	}{
		{nil, ""},
		{of(syscall.ENOENT), missing},
		{of(syscall.ENOTDIR), missing},
		{of(syscall.ENODEV), missing}, // the cgroup was removed between open and read
		{of(syscall.ESRCH), missing},
		{of(syscall.EACCES), forbidden},
		{of(syscall.EPERM), forbidden},
		{of(syscall.EIO), unreadable},
		{of(syscall.ELOOP), unreadable},
		{of(syscall.EMFILE), unreadable},
		{fmt.Errorf("find cgroup: %w", &collectors.Error[reason]{Reason: noProcess, Err: syscall.EACCES}), noProcess},
		{ofProcess(of(syscall.EINVAL)), noProcess},
		{ofProcess(of(syscall.EACCES)), forbidden},
		{ofProcess(of(syscall.ESRCH)), noProcess},
	}
	for _, tt := range tests {
		if got := reasonOf(tt.err); got != tt.want {
			t.Errorf("reasonOf(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}

// A file on another mount than its cgroup is rejected.
func TestFileOfAnotherFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "memory.current"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stat syscall.Stat_t
	if err := syscall.Stat(dir, &stat); err != nil {
		t.Fatal(err)
	}
	for device, want := range map[uint64]reason{uint64(stat.Dev) + 1: unreadable, uint64(stat.Dev): ""} {
		p := &place{dir: dir, device: device}
		if data, err := p.file(&reader{}, "memory.current"); reasonOf(err) != want || (err == nil) != (string(data) == "1\n") {
			t.Errorf("file() = %q, %v, want the reason %q", data, err, want)
		}
	}
}

func FuzzParseCgroupValues(f *testing.F) {
	for _, text := range []string{"524288000\n", "max\n", "9223372036854771712\n", "inactive_file 1\noom_kill 2\n", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=1.00 avg60=2.00 avg300=3.00 total=4\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		if n, err := parseBytes(data); err != nil && n != 0 || n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
			t.Errorf("parseBytes(%q) = %v, %v, want a number of bytes or an error alone", data, n, err)
		}
		if n, err := parseLimit(data); err != nil && n != 0 || n < 0 || math.IsNaN(n) {
			t.Errorf("parseLimit(%q) = %v, %v, want a limit or an error alone", data, n, err)
		}
		if n, err := parseKey(data, "oom_kill"); err == nil && !bytes.Contains(data, []byte("oom_kill ")) || n < 0 {
			t.Errorf("parseKey(%q) = %v, %v, want no number out of nothing", data, n, err)
		}
		lines, err := parsePressure(data)
		if len(lines) > 2 || (err == nil) != (len(lines) > 0) {
			t.Errorf("parsePressure(%q) = %v, %v, want one or two lines, or an error", data, lines, err)
		}
		for _, p := range lines {
			for _, share := range []float64{p.avg10, p.avg60, p.avg300} {
				if !(share >= 0 && share <= 100) {
					t.Errorf("parsePressure(%q) = %+v, want shares from 0 to 100", data, p)
				}
			}
		}
		if !bytes.Equal(before, data) {
			t.Errorf("the parsers changed %q to %q", before, data)
		}
	})
}

// For any tables the directory is below the mount point.
func FuzzPaths(f *testing.F) {
	f.Add("40 33 0:34 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory", "4:memory:/a/b\n")
	f.Add("40 33 0:34 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "0::/../../b\n")
	f.Add(`40 33 0:34 /a\040b /c rw - cgroup2 cgroup2 rw`, "1:name=systemd:/\n0::/a b/..\n")
	f.Fuzz(func(t *testing.T, line, cgroups string) {
		m, err := parseMount(line)
		if err != nil && m != (mount{}) {
			t.Errorf("parseMount(%q) = %+v, %v, want an error alone", line, m, err)
		}
		cgroup, _, err := parseMemoryCgroup(cgroups)
		if err != nil || cgroup == "" {
			return
		}
		below, ok := m.below(cgroup)
		if ok && (!path.IsAbs(below) || slices.Contains(strings.Split(below, "/"), "..")) {
			t.Errorf("below() of %q at %q = %q, want a path without ..", cgroup, m.root, below)
		}
		if ok && m.root == "/" && below != cgroup {
			t.Errorf("below() of %q in the whole hierarchy = %q, want the same", cgroup, below)
		}
	})
}

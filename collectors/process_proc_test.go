package collectors

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseProcessStat(t *testing.T) {
	fields := "1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 %s 0 %s 228000000 %s 18446744073709551615 0 0\n"
	stat := func(name, state, threads, start, pages string) string {
		return "7 (" + name + ") " + state + " " + fmt.Sprintf(fields, threads, start, pages)
	}
	tests := []struct {
		name, text string
		want       processStat
		wantErr    string
	}{
		{"process", stat("ovs-vswitchd", "S", "12", "345678", "4321"), processStat{'S', 12, 345678, 4321}, ""},
		{"stopped by a debugger", stat("x", "t", "1", "1", "1"), processStat{'t', 1, 1, 1}, ""},
		{"name like the fields behind it", stat("a) Z 1 (b", "R", "2", "3", "4"), processStat{'R', 2, 3, 4}, ""},
		{"name with a line break", stat("a\nb", "D", "2", "3", "4"), processStat{'D', 2, 3, 4}, ""},
		{"started after 6 billion years", stat("x", "S", "1", "18446744073709551615", "0"), processStat{'S', 1, math.MaxUint64, 0}, ""},
		{"nothing", "", processStat{}, "at least 22 fields"},
		{"no name", "7 S 1 1", processStat{}, "at least 22 fields"},
		{"cut off", "7 (x)", processStat{}, "at least 22 fields"},
		{"long state", stat("x", "SS", "1", "2", "3"), processStat{}, "at least 22 fields"},
		{"threads are no number", stat("x", "S", "many", "2", "3"), processStat{}, `parsing "many"`},
		{"start is no number", stat("x", "S", "1", "-2", "3"), processStat{}, `parsing "-2"`},
		{"memory is no number", stat("x", "S", "1", "2", "3.5"), processStat{}, `parsing "3.5"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseProcessStat([]byte(tt.text))
			if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("parseProcessStat(%q) = %v, %v, want %v, %q", tt.text, got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func TestParseMaxFDs(t *testing.T) {
	line := func(soft string) string {
		return "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            " + soft + "     524288               files     \n"
	}
	tests := []struct {
		name, text string
		want       float64
		wantErr    string
	}{
		{"soft limit", line("1024"), 1024, ""},
		{"no limit", line("unlimited"), math.Inf(1), ""},
		{"none may be opened", line("0"), 0, ""},
		{"no number", line("-1"), 0, `limits: "-1" is no number of open files`},
		{"no line", "Max cpu time              unlimited            unlimited            seconds\n", 0, "limits: no line Max open files"},
		{"line without a limit", "Max open files\n", 0, "limits: no line Max open files"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseMaxFDs([]byte(tt.text))
			if got != tt.want || fmt.Sprint(err) != tt.wantErr && (err != nil || tt.wantErr != "") {
				t.Errorf("parseMaxFDs() = %v, %v, want %v, %q", got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func TestStatusLine(t *testing.T) {
	status := "Name:\tCapEff:\\nCapEff:\nTgid:\t 7\nCapEffs:\t1\nCapEff\nCapEff:\t2\nCapEff:\t3\n"
	for key, want := range map[string]string{"Tgid": "7", "CapEff": "2", "CapPrm": "none", "": "none"} {
		got, ok := statusLine([]byte(status), key)
		if !ok {
			got = []byte("none")
		}
		if string(got) != want {
			t.Errorf("statusLine(%q) = %s, want %s", key, got, want)
		}
	}
}

// A file is read whole, whatever its size, and the buffer is used again.
func TestProcReaderReadsWholeFiles(t *testing.T) {
	r := procReader{mount: t.TempDir()}
	if err := os.Mkdir(filepath.Join(r.mount, "7"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, wholeProcFile - 1, wholeProcFile, wholeProcFile + 1, 4096, 100_000, maxProcFile, 3} {
		want := strings.Repeat("x", size)
		if err := os.WriteFile(filepath.Join(r.mount, "7", "status"), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := r.read(7, "status"); err != nil || string(got) != want {
			t.Errorf("read() of %d bytes = %d bytes, %v, want all and no error", size, len(got), err)
		}
	}
	if err := os.Truncate(filepath.Join(r.mount, "7", "status"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if got, err := r.read(7, "status"); err != nil || len(got) > 3*maxProcFile {
		t.Errorf("read() of an endless file = %d bytes, %v, want about %d and no error", len(got), err, maxProcFile)
	}
}

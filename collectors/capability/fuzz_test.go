package capability

import (
	"strconv"
	"testing"

	"github.com/vitals-health/vitals/collectors/process"
)

// FuzzParseSets parses /proc/PID/status: a set is known exactly if its line is a mask.
func FuzzParseSets(f *testing.F) {
	for _, status := range []string{
		"Name:\tvitals\nCapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\n",
		"CapEff:\nCapPrm: zz\n", "", "CapBnd:\t1ffffffffffffffff", "CapEff:1\nCapEff:2",
	} {
		f.Add([]byte(status))
	}
	f.Fuzz(func(t *testing.T, status []byte) {
		sets, err := parseSets(status)
		all := true
		for i, s := range exportedSets() {
			text, ok := process.StatusLine(status, s.line)
			bits, wrong := strconv.ParseUint(string(text), 16, 64)
			if want := ok && wrong == nil; sets[i].known != want || want && sets[i].bits != bits || !want && sets[i].bits != 0 {
				t.Errorf("set %s = %+v, want %x, known %t", s.line, sets[i], bits, want)
			}
			all = all && sets[i].known
		}
		if all != (err == nil) || err != nil && len(err.Error()) > 1024 {
			t.Errorf("parseSets() = %v, want an error of bounded length exactly if a set is unknown", err)
		}
		named, _ := parseSets(append([]byte("Name:\tx\n"), status...))
		if named != sets {
			t.Errorf("parseSets() = %+v, below another line %+v", sets, named)
		}
	})
}

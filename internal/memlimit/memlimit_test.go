package memlimit

import (
	"bytes"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

func TestSmaller(t *testing.T) {
	const none = math.MaxInt64
	for name, tt := range map[string]struct {
		variable, cgroup, want int64
		source                 string
		ok                     bool
	}{
		"none":                    {none, none, 0, "", false},
		"of the cgroup":           {none, 128 << 20, 128 << 20, Cgroup, true},
		"of the variable":         {64 << 20, none, 64 << 20, Variable, true},
		"the cgroup is smaller":   {256 << 20, 128 << 20, 128 << 20, Cgroup, true},
		"the variable is smaller": {100 << 20, 128 << 20, 100 << 20, Variable, true},
	} {
		if got, source, ok := smaller(tt.variable, tt.cgroup); got != tt.want || source != tt.source || ok != tt.ok {
			t.Errorf("%s: smaller(%d, %d) = %d, %q, %t, want %d, %q, %t", name, tt.variable, tt.cgroup, got, source, ok, tt.want, tt.source, tt.ok)
		}
	}
}

func TestSoftLimit(t *testing.T) {
	for mebibytes, want := range map[int64]int64{1000: 900, 260: 234, 128: 102, 52: 26, 30: 15} {
		if got := softLimit(mebibytes << 20); got != want<<20 {
			t.Errorf("softLimit(%d MiB) = %d, want %d MiB", mebibytes, got, want)
		}
	}
}

// A limit of the environment stays, and Limit returns it where the cgroup has a larger one.
func TestVariable(t *testing.T) {
	before := debug.SetMemoryLimit(1 << 20)
	defer debug.SetMemoryLimit(before)
	t.Setenv(Variable, "1MiB")
	var log bytes.Buffer
	Apply(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if got := debug.SetMemoryLimit(-1); got != 1<<20 {
		t.Errorf("the limit after Apply() = %d, want 1 MiB as before", got)
	}
	if !strings.Contains(log.String(), "source=GOMEMLIMIT gomemlimit=1MiB") {
		t.Errorf("Apply() logs %q, want the source and the value", log.String())
	}
	if got, source, ok := Limit(); got != 1<<20 || source != Variable || !ok {
		t.Errorf("Limit() = %d, %q, %t, want 1 MiB from %s", got, source, ok, Variable)
	}
}

// The runtime gets the share of the cgroup's limit, and no limit without one.
func TestApply(t *testing.T) {
	t.Setenv(Variable, "off") // restores the environment at the end
	if err := os.Unsetenv(Variable); err != nil {
		t.Fatal(err)
	}
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	Apply(slog.New(slog.DiscardHandler))
	want := int64(math.MaxInt64)
	limit, source, ok := Limit()
	if ok {
		want = softLimit(limit)
	}
	if got := debug.SetMemoryLimit(-1); got != want {
		t.Errorf("the limit after Apply() = %d, want %d for the limit %d of %q", got, want, limit, source)
	}
}

package collectors

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/prometheus/procfs"
)

func TestProcessSelectorFindsThisProcess(t *testing.T) {
	pid := os.Getpid()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(pid)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []ProcessSelector{{}, {PID: pid}, {PIDFile: pidFile}, {Name: filepath.Base(exe)}, {Exe: exe}} {
		if problems := s.problems(""); problems != nil {
			t.Errorf("problems() of %s = %v, want none", s, problems)
		}
		found, err := s.processes(t.Context())
		if err != nil || !slices.ContainsFunc(found, func(p procfs.Proc) bool { return p.PID == pid }) {
			t.Errorf("processes() of %s = %v, %v, want process %d and no error", s, found, err, pid)
		}
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/process"
)

// exhibitCgroup is a cgroup of version 2 below a directory of the test: what the own
// one is depends on the machine.
func exhibitCgroup(t *testing.T) *cgroup.Config {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(docsRoot, "collectors/cgroup/testdata/v2.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var stat syscall.Stat_t
	if err := syscall.Stat(dir, &stat); err != nil {
		t.Fatal(err)
	}
	dev := uint64(stat.Dev)
	fill := strings.NewReplacer("TREE", dir, "DEVICE", fmt.Sprintf("%d:%d", dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff))
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fill.Replace(string(f.Data))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	limit := collectors.Size(512 << 20)
	return &cgroup.Config{Process: &process.Selector{ProcFS: filepath.Join(dir, "proc")}, Limit: &limit}
}

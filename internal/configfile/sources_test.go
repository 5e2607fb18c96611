package configfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/configfile"
)

func allKinds() configfile.Kinds[kinds.Config] { return configfile.Kinds[kinds.Config]{New: kinds.New} }

// A rule file may be larger than the configuration.
func TestSizeOfFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, size int, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, append([]byte(text), bytes.Repeat([]byte("#\n"), size/2)...), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("rules.yml", 7<<20, "groups: []\n")
	path := put("vitals.yml", 0, "rule_files: [rules.yml]\n")
	l, errs := configfile.LoadFile(allKinds(), path)
	if len(errs) > 0 || l.Sources.Changed() {
		t.Errorf("LoadFile() = %v, changed %t, want neither", errs, l.Sources.Changed())
	}
	put("rules.yml", 9<<20, "groups: []\n")
	if _, errs := configfile.LoadFile(allKinds(), path); len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "has more than 8388608 bytes, expected at most that") {
		t.Errorf("LoadFile() = %v, want an error about the size of the rule file", errs)
	}
	path = put("vitals.yml", 2<<20, "rule_files: []\n")
	if _, errs := configfile.LoadFile(allKinds(), path); len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "has more than 1048576 bytes, expected at most that") {
		t.Errorf("LoadFile() = %v, want an error about the size of the configuration", errs)
	}
}

// A pipe without a writer is a mistake, and a pipe with one is read to its end.
func TestReadFileOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := configfile.ReadFile(path); err == nil || !strings.HasPrefix(err.Error(), "is a pipe whose writer sends nothing") {
		t.Errorf("ReadFile() of a pipe without a writer = %v, want an error", err)
	}
	reader, writer, err := os.Pipe() // open for reading throughout, so that nothing gets lost
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	written := make(chan error, 1)
	go func() {
		_, err := writer.WriteString("groups: []\n")
		written <- errors.Join(err, writer.Close())
	}()
	data, err := configfile.ReadFile(fmt.Sprintf("/dev/fd/%d", reader.Fd()))
	if late := <-written; err != nil || late != nil || string(data) != "groups: []\n" {
		t.Errorf("ReadFile() of a pipe = %q, %v, %v, want what was written", data, err, late)
	}
}

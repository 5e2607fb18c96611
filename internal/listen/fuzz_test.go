package listen

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// FuzzOverflow reads the files of proc(5) on user namespaces. The whole range of the
// initial namespace, and nothing else, makes every number one of this host.
func FuzzOverflow(f *testing.F) {
	f.Add("         0          0 4294967295\n", "65534\n")
	f.Add("0 1000 1\n", "many")
	f.Add("", "-1")
	f.Add("0 0 4294967295\n1 1 1\n", "99999999999")
	proc := f.TempDir()
	for _, dir := range []string{"self", "sys/kernel"} {
		if err := os.MkdirAll(filepath.Join(proc, dir), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, ids, overflow string) {
		for path, text := range map[string]string{"self/uid_map": ids, "sys/kernel/overflowuid": overflow} {
			if err := os.WriteFile(filepath.Join(proc, path), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, whole := overflowOf(proc, "uid"), strings.Join(strings.Fields(ids), " ") == "0 0 4294967295"
		if got.shows == whole {
			t.Errorf("overflowOf() with the map %q = %+v, want shows %t", ids, got, !whole)
		}
		n, err := strconv.ParseUint(strings.TrimSpace(overflow), 10, 32)
		if err != nil {
			n = 65534
		}
		if got.shows && uint64(got.id) != n {
			t.Errorf("overflowOf() with the number %q = %d, want %d", overflow, got.id, n)
		}
	})
}

// FuzzRights parses the flags of the Unix socket.
func FuzzRights(f *testing.F) {
	for _, text := range []string{"0660", "600", "0777", "1777", "0o660", "-1", "4294967295", "root", ""} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, mode, user string) {
		if strings.Contains(user, "\x00") { // no name of a user
			return
		}
		unknown := func(string) (string, error) { return "", os.ErrNotExist }
		if n, err := number(user, unknown); err == nil && (n == math.MaxUint32 || user != strings.Trim(user, " +-")) {
			t.Errorf("number(%q) = %d, want the number of a user", user, n)
		}
		r, err := Socket{Mode: mode}.rights()
		if err != nil {
			if len(err.Error()) > len(mode)+150 {
				t.Errorf("rights() = %v", err)
			}
			return
		}
		if r.mode&^0o777 != 0 || r.mode&0o600 != 0o600 {
			t.Errorf("rights() of %q = %o, want the owner's and no more than 0777", mode, r.mode)
		}
	})
}

package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/history"
)

func chmod(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func TestOwner(t *testing.T) {
	for _, tt := range []struct {
		dir  string
		user int
	}{
		{dir: t.TempDir(), user: os.Geteuid()},
		{dir: "/", user: 4711},
	} {
		s := &store{options: Options{Dir: tt.dir}, user: tt.user}
		if err := s.checkDir(); err != nil {
			t.Errorf("checkDir() of %s = %v, want no error", tt.dir, err)
		}
	}
	s := &store{user: 4711, group: 2000}
	for _, tt := range []struct {
		name         string
		mode         fs.FileMode
		owner, group int
		want         string
	}{
		{"of the user", 0o600, 4711, 100, ""},
		{"of root, which others read", 0o644, 0, 0, ""},
		{"of another user", 0o600, 1000, 100, "/d/f belongs to user 1000: expected 4711 or root: chown 4711 /d/f"},
		{"of another user in the trusted group", 0o660, 1000, 2000, "/d/f belongs to user 1000: expected 4711 or root: chown 4711 /d/f"},
		{"that all may write", 0o602, 4711, 2000, "/d/f has the mode 0602, so other users may write to it: chmod 600 /d/f"},
		{"that its group may write", 0o660, 4711, 100, "/d/f has the mode 0660, so other users may write to it: chmod 600 /d/f"},
		{"that the group of the directory may write", 0o660, 4711, 2000, ""},
		{"a FIFO", fs.ModeNamedPipe | 0o600, 4711, 100, "/d/f is no regular file: remove it"},
		{"a device", fs.ModeDevice | 0o600, 0, 0, "/d/f is no regular file: remove it"},
	} {
		got := ""
		if err := s.check("/d/f", tt.mode, tt.owner, tt.group); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("check() of a file %s = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A file that another user may have written costs its own content alone: one warning with the
// cure, and the journal goes on behind it.
func TestUntrustedFiles(t *testing.T) {
	const moves = "other users may move files of the storage"
	segment := (segment{number: 1}).name()
	file := func(name string) func(*testing.T, string) string {
		return func(t *testing.T, dir string) string {
			chmod(t, filepath.Join(dir, name), 0o606)
			return "chmod 600 "
		}
	}
	instead := func(name string, with func(*testing.T, string), want string) func(*testing.T, string) string {
		return func(t *testing.T, dir string) string {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			with(t, dir)
			return want
		}
	}
	for name, tt := range map[string]struct {
		change            func(t *testing.T, dir string) (want string)
		events, overrides int
	}{
		"overrides of all users": {file(overridesName), 4, 0},
		"a segment of all users": {file(segment), 0, 1},
		"a FIFO":                 {instead(segment, func(t *testing.T, dir string) { fifo(t, dir, segment) }, "is no regular file: remove it"), 0, 1},
		"a directory":            {instead(segment, func(t *testing.T, dir string) { mkdir(t, dir, segment) }, "is no regular file: remove it"), 0, 1},
		"a link":                 {instead(overridesName, func(t *testing.T, dir string) { link(t, "/etc/passwd", filepath.Join(dir, overridesName)) }, "too many levels of symbolic links"), 4, 0},
		"a file of before a crash": {func(t *testing.T, dir string) string {
			fifo(t, dir, newOverridesName)
			return ""
		}, 4, 1},
		"the group of a volume": {func(t *testing.T, dir string) string {
			chmod(t, dir, fs.ModeSetgid|0o770)
			for _, name := range []string{overridesName, segment, lockName} {
				chmod(t, filepath.Join(dir, name), 0o660)
			}
			return ""
		}, 4, 1},
		"a directory of all users": {func(t *testing.T, dir string) string {
			chmod(t, dir, 0o777)
			return moves
		}, 4, 1},
		"a sticky directory of all users": {func(t *testing.T, dir string) string {
			chmod(t, dir, fs.ModeSticky|0o777)
			return ""
		}, 4, 1},
		"a group that may not write the directory": {func(t *testing.T, dir string) string {
			chmod(t, dir, 0o750)
			chmod(t, filepath.Join(dir, overridesName), 0o660)
			return "chmod 600 "
		}, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				silence := evaluator.Override{Rule: "Down", Until: time.Now().UTC().Add(time.Hour)}
				first := start(t, options(dir))
				first.override(silence)
				first.kill()
				want := tt.change(t, dir)

				second := start(t, options(dir))
				equal(t, tt.events, len(second.past.Events))
				equal(t, tt.overrides, len(second.past.Overrides))
				warnings := 0
				if want != "" {
					second.wantLog(want, 1)
				}
				if want != "" && want != moves {
					warnings = 1
				}
				second.wantLog("a file in the storage is not read", warnings)
				silence.Rule = "Other"
				second.override(silence)
				second.wantWritable(true)
				second.kill()
				third := start(t, options(dir))
				defer third.stop()
				equal(t, second.events()[tt.events:], third.past.Events[len(third.past.Events)-len(second.events())+tt.events:])
				equal(t, []evaluator.Override{silence}, third.past.Overrides)
			})
		})
	}
}

// unprivileged opens a store like a user who is not root: the mode of a file holds for its owner. Its
// goroutine ends without UnlockOSThread, and so does the thread without the capability.
func unprivileged(o Options, now time.Time) (*store, history.Past, error) {
	runtime.LockOSThread()
	header, data := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	err := unix.Capget(&header, &data[0])
	data[0].Effective &^= 1 << unix.CAP_DAC_OVERRIDE
	if err = errors.Join(err, unix.Capset(&header, &data[0])); err != nil {
		return nil, history.Past{}, err
	}
	return openStore(o, now)
}

// Events of a file that the process may only read are kept, and new ones begin another file.
func TestReadOnlySegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first := start(t, options(dir))
		first.change()
		first.kill()
		name := filepath.Join(dir, segment{number: 1}.name())
		chmod(t, name, 0o400)
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		second := startWith(t, options(dir), unprivileged)
		equal(t, first.events(), second.past.Events)
		equal(t, "", second.log.String())
		second.wantWritable(true)
		second.kill()
		after, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, string(before), string(after))
		third := start(t, options(dir))
		defer third.stop()
		equal(t, second.events(), third.past.Events)
	})
}

// A file that the process may read and not remove is left out, and does not keep the others from being
// read. That nothing can be written is a warning of its own, which root does not get.
func TestSegmentThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first := start(t, options(dir))
		first.kill()
		chmod(t, dir, 0o500)
		defer chmod(t, dir, 0o700)
		time.Sleep(100 * 365 * 24 * time.Hour) // the files have the time of the machine
		second := startWith(t, options(dir), unprivileged)
		defer second.stop()
		equal(t, 0, len(second.past.Events))
		second.wantLog("a file in the storage is not read", 1)
		second.wantLog("events-00000001.log: permission denied", 1)
	})
}

// Any number of files costs a bounded number of lines.
func TestManyUntrustedFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for i := range 3 * maxRefused {
			mkdir(t, dir, segment{number: i + 1}.name())
		}
		p := start(t, options(dir))
		p.wantLog("a file in the storage is not read", maxRefused)
		p.wantWritable(true)
		p.stop()
		if names, _ := filepath.Glob(filepath.Join(dir, "events-*.log")); len(names) != 3*maxRefused+1 || !strings.HasSuffix(names[len(names)-1], (segment{number: 3*maxRefused + 1}).name()) {
			t.Errorf("the files are %v, want one more, behind the others", names)
		}
	})
}

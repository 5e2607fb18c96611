package textfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/textfile"
	"github.com/vitals-health/vitals/internal/budget"
)

// written is when the files of the tests were written.
func written() time.Time { return time.Unix(1_700_000_000, 250_000_000) }

// put writes a file as of written.
func put(t testing.TB, path, content string) {
	t.Helper()
	collectortest.Write(t, path, content)
	if err := os.Chtimes(path, written(), written()); err != nil {
		t.Fatal(err)
	}
}

// newCollector returns a collector of the files of a directory that match a pattern.
func newCollector(t testing.TB, dir, pattern, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "cron", "{path: '"+filepath.Join(dir, pattern)+"'"+more+"}", &textfile.Config{})
}

// reasonsOf returns the reason of each file that could not be read, by its name.
func reasonsOf(t testing.TB, samples []collectors.Sample) string {
	t.Helper()
	var found []string
	up := 1.0
	for _, s := range samples {
		if m := regexp.MustCompile(`^vitals_textfile_failure\{component="cron",path="[^"]*/([^"]*)",reason="(.*)"\} 1`).FindStringSubmatch(collectortest.Sample(s)); m != nil {
			found, up = append(found, m[1]+" "+m[2]), 0
		}
	}
	if got, ok := collectortest.Value(samples, `vitals_textfile_up{component="cron"}`); !ok || got != up {
		t.Errorf("vitals_textfile_up = %v, %t, want %v with the failures %q", got, ok, up, found)
	}
	return strings.Join(found, ", ")
}

// ofFiles returns the samples of the files.
func ofFiles(samples []collectors.Sample) string {
	var found []string
	for _, s := range samples {
		if text := strings.TrimSpace(collectortest.Sample(s)); !strings.HasPrefix(text, "vitals_textfile_") {
			found = append(found, text)
		}
	}
	return strings.Join(found, ", ")
}

func TestExposition(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "backup.prom"), collectortest.Read(t, "testdata/backup.prom"))
	put(t, filepath.Join(dir, "broken.prom"), "# HELP rotated_files Files that logrotate rotated.\nrotated_files 3")
	put(t, filepath.Join(dir, "raid.prom"), "# HELP raid_degraded Whether a disk is missing.\n# TYPE raid_degraded gauge\nraid_degraded{array=\"md0\"} 0\nvitals_state{state=\"ready\"} 1\n")
	put(t, filepath.Join(dir, "raid.prom.tmp"), "raid_degraded 1\n")
	put(t, filepath.Join(dir, ".hidden.prom"), "raid_degraded 2\n")
	c := newCollector(t, dir, "*.prom", "")
	for range 2 { // the second time with warm caches
		samples, err := collectortest.Collect(t, c)
		if want := "read " + dir + "/broken.prom: its last line has no line feed, and may be cut"; err == nil || err.Error() != want {
			t.Errorf("Collect() = %v, want %s", err, want)
		}
		collectortest.Golden(t, "metrics.prom", strings.ReplaceAll(collectortest.Exposition(samples, c.Describe()), dir, "/run/vitals"))
	}
}

// A file that cannot be read has a reason, and none of its samples; the others count.
func TestReasons(t *testing.T) {
	const long = `a{b="1",c="2"} 1` + "\n"
	tests := []struct {
		name, content, more, want string
	}{
		{"well", "a 1\n", "", ""},
		{"empty", "", "", ""},
		{"comments alone", "# by cron\n", "", ""},
		{"a page", "<html>\n", "", "a.prom syntax"},
		{"cut in the middle of a line", "a 1\nb{c=\"d", "", "a.prom syntax"},
		{"without its last line feed", "a 1", "", "a.prom syntax"},
		{"a NUL", "a 1\x00\n", "", "a.prom syntax"},
		{"a label that is not UTF-8", "a{b=\"\xff\"} 1\n", "", "a.prom syntax"},
		{"a timestamp", "a 1 1700000000000\n", "", "a.prom timestamp"},
		{"a series twice", "a 1\na 2\n", "", "a.prom duplicate"},
		{"a series of the next file", "z 1\n", "", "z.prom duplicate"},
		{"another type than in the next file", "# TYPE z counter\nz{of=\"a\"} 1\n", "", "z.prom conflict"},
		{"no type, with one in the next file", "z{of=\"a\"} 1\n", "", ""},
		{"another help than in the next file", "# HELP z Other.\n# TYPE z gauge\nz{of=\"a\"} 1\n", "", ""},
		{"as large as may be", long + "####\n", ", size_limit: 22B", ""},
		{"one byte more", long + "#####\n", ", size_limit: 22B", "a.prom too_large"},
		{"as many samples as may be", "a 1\nb 1\n", ", sample_limit: 2", ""},
		{"one sample more", "a 1\nb 1\nc 1\n", ", sample_limit: 2", "a.prom too_many_samples"},
		{"too many labels", "a{" + labelsOf(64) + "} 1\n", "", "a.prom label_limit"},
		{"as many labels as may be", "a{" + labelsOf(62) + "} 1\n", "", ""},
		{"a label that is too long", "a{b=\"" + strings.Repeat("x", 2049) + "\"} 1\n", "", "a.prom label_limit"},
		{"more files than may be", "a 1\n", ", file_limit: 1", "*.prom too_many_files"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, "a.prom"), tt.content)
			put(t, filepath.Join(dir, "z.prom"), "# TYPE z gauge\nz 1\n")
			c := newCollector(t, dir, "*.prom", tt.more)
			samples, err := collectortest.Collect(t, c)
			if got := reasonsOf(t, samples); got != tt.want || (err != nil) != (tt.want != "") {
				t.Errorf("failures = %q, error %v, want %q", got, err, tt.want)
			}
			if got := ofFiles(samples); strings.HasPrefix(tt.want, "a.prom") && got != `z{component="cron"} 1` {
				t.Errorf("samples = %s, want those of z.prom alone", got)
			}
			if _, ok := collectortest.Value(samples, `vitals_textfile_mtime_timestamp_seconds{component="cron",path="`+dir+`/a.prom"}`); ok == strings.HasPrefix(tt.want, "a.prom") {
				t.Errorf("the time of a.prom is there: %t, want it for a file that was read", ok)
			}
			if err != nil && (len(err.Error()) > 512 || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error = %q, want one line of at most 512 bytes", err)
			}
		})
	}
}

func labelsOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "l%d=\"x\",", i)
	}
	return b.String()
}

// What is no regular file is not read, and is not waited for.
func TestNoRegularFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, secret, "a 1\n")
	for name, create := range map[string]func(path string) error{
		"a symbolic link":              func(path string) error { return os.Symlink(secret, path) },
		"a symbolic link to nothing":   func(path string) error { return os.Symlink("/nonexistent", path) },
		"a directory":                  func(path string) error { return os.Mkdir(path, 0o700) },
		"a FIFO that nothing opens":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a symbolic link to a device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a symbolic link to itself":    func(path string) error { return os.Symlink(path, path) },
		"a link to the file next door": func(path string) error { return os.Symlink("b.prom", path) },
	} {
		for _, pattern := range []string{"*.prom", "a.prom"} {
			t.Run(name+" for "+pattern, func(t *testing.T) {
				dir := t.TempDir()
				put(t, filepath.Join(dir, "b.prom"), "b 1\n")
				if err := create(filepath.Join(dir, "a.prom")); err != nil {
					t.Fatal(err)
				}
				samples, err := collectortest.Collect(t, newCollector(t, dir, pattern, ""))
				if got := reasonsOf(t, samples); got != "a.prom not_regular" || err == nil {
					t.Errorf("failures = %q, error %v, want not_regular", got, err)
				}
				if got := ofFiles(samples); strings.Contains(got, "a{") {
					t.Errorf("samples = %s, want none of a file behind a.prom", got)
				}
			})
		}
	}
}

// Without a file, nothing was measured: a job that never ran does not look well.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "a 1\n")
	for _, tt := range []struct{ path, want, files, text string }{
		{"*.prom", "*.prom missing", "0", "no file matches"},
		{"a.prom", "a.prom missing", "0", "a.prom: no such file or directory"},
		{"gone/*.prom", "*.prom missing", "absent", "gone: no such file or directory"},
		{"gone/a.prom", "a.prom missing", "0", "a.prom: no such file or directory"},
		{"file/*.prom", "*.prom missing", "absent", "not a directory"},
		{"file", "", "1", ""},
	} {
		t.Run(tt.path, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newCollector(t, dir, tt.path, ""))
			if got := reasonsOf(t, samples); got != tt.want || (err != nil) != (tt.want != "") {
				t.Errorf("failures = %q, error %v, want %q", got, err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error = %v, want %s", err, tt.text)
			}
			found := "absent"
			if v, ok := collectortest.Value(samples, `vitals_textfile_files{component="cron"}`); ok {
				found = fmt.Sprint(v)
			}
			if found != tt.files {
				t.Errorf("vitals_textfile_files = %s, want %s", found, tt.files)
			}
		})
	}
}

func TestDirectoryThatMayNotBeRead(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.prom"), "a 1\n")
	if err := os.Chmod(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	want := "*.prom forbidden"
	if f, err := os.Open(dir); err == nil { // root may read every directory
		_ = f.Close()
		want = ""
	}
	samples, _ := collectortest.Collect(t, newCollector(t, dir, "*.prom", ""))
	if got := reasonsOf(t, samples); got != want {
		t.Errorf("failures = %q, want %q", got, want)
	}
}

// The collector follows the files: new ones, changed ones, and those that are gone.
func TestFollowsTheFiles(t *testing.T) {
	dir := t.TempDir()
	c := newCollector(t, dir, "*.prom", "")
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"a new file", func() { put(t, filepath.Join(dir, "a.prom"), "a 1\n") }, `a{component="cron"} 1`},
		{"another value at the same time", func() { put(t, filepath.Join(dir, "a.prom"), "a 2\n") }, `a{component="cron"} 2`},
		{"one more", func() { put(t, filepath.Join(dir, "b.prom"), "b 3\n") }, `a{component="cron"} 2, b{component="cron"} 3`},
		{"a broken one", func() { put(t, filepath.Join(dir, "a.prom"), "a") }, `b{component="cron"} 3`},
		{"renamed over it", func() {
			put(t, filepath.Join(dir, "a.tmp"), "a 4\n")
			if err := os.Rename(filepath.Join(dir, "a.tmp"), filepath.Join(dir, "a.prom")); err != nil {
				t.Fatal(err)
			}
		}, `a{component="cron"} 4, b{component="cron"} 3`},
		{"one less", func() { _ = os.Remove(filepath.Join(dir, "b.prom")) }, `a{component="cron"} 4`},
		{"none", func() { _ = os.Remove(filepath.Join(dir, "a.prom")) }, ""},
	} {
		step.do()
		samples, _ := collectortest.Collect(t, c)
		if got := ofFiles(samples); got != step.want {
			t.Errorf("%s: samples = %s, want %s", step.name, got, step.want)
		}
	}
}

// A file cannot pose as Vitals or as another component.
func TestImpersonation(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.prom"), `vitals_component_alive{component="watcher"} 1
{"vitals.state",state="ready"} 1
vitals_textfile_up{component="cron"} 1
a{component="watcher"} 1
`)
	samples, err := collectortest.Collect(t, newCollector(t, dir, "*.prom", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ofFiles(samples), `a{component="cron",exported_component="watcher"} 1`; got != want {
		t.Errorf("samples = %s, want %s", got, want)
	}
	if v, _ := collectortest.Value(samples, `vitals_textfile_reserved_samples{component="cron"}`); v != 3 {
		t.Errorf("vitals_textfile_reserved_samples = %v, want 3", v)
	}
}

// New labels and new files in every collection leave no memory behind.
func TestMemoryIsBounded(t *testing.T) {
	dir, memory := t.TempDir(), budget.New(1<<20)
	config := &textfile.Config{}
	collectortest.Decode(t, "{path: '"+dir+"/*.prom'}", config)
	c, err := config.New(collectors.Env{Name: "cron", Memory: memory.Account()})
	if err != nil {
		t.Fatal(err)
	}
	var most int64
	for n := range 50 {
		path := filepath.Join(dir, fmt.Sprintf("%d.prom", n))
		var body strings.Builder
		for i := range 400 {
			fmt.Fprintf(&body, "a{b=\"%d-%d\"} 1\n", n, i)
		}
		put(t, path, body.String())
		if samples, err := collectortest.Collect(t, c); err != nil || reasonsOf(t, samples) != "" {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		if n == 0 {
			most = 2 * memory.Used()
		}
		if used := memory.Used(); used == 0 || used > most {
			t.Fatalf("%d bytes are held for one file, want at most %d", used, most)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20 {
		put(t, filepath.Join(dir, fmt.Sprintf("%d.prom", n)), bodyOf(n))
	}
	samples, err := collectortest.Collect(t, c)
	if got := reasonsOf(t, samples); err == nil || !strings.Contains(got, " memory") || !strings.Contains(ofFiles(samples), "a{") {
		t.Errorf("failures = %q, error %v, want memory for some files and samples of others", got, err)
	}
}

func bodyOf(n int) string {
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "a{b=\"%d-%d\"} 1\n", n, i)
	}
	return body.String()
}

func TestNote(t *testing.T) {
	dir := t.TempDir()
	c := newCollector(t, dir, "*.prom", "")
	note := func() string {
		_, _ = collectortest.Collect(t, c)
		return collectortest.Note(c)
	}
	if got := note(); got != "" {
		t.Errorf("Note() = %q without files, want none: the error is shown", got)
	}
	write := func(name string, age time.Duration) {
		path := filepath.Join(dir, name)
		put(t, path, name[:1]+" 1\n")
		if err := os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write("a.prom", 49*time.Hour+30*time.Minute)
	if got, want := note(), dir+"/a.prom: written 2d1h ago"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
	write("b.prom", -49*time.Hour-30*time.Minute)
	if got, want := note(), dir+"/*.prom: 2 files, the oldest is a.prom, written 2d1h ago"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
	_ = os.Remove(filepath.Join(dir, "a.prom"))
	if got, want := note(), dir+"/b.prom: written 2d1h in the future"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

func TestProblems(t *testing.T) {
	for _, tt := range []struct{ block, want string }{
		{"{path: /run/vitals/*.prom}", ""},
		{"{path: /run/vitals/a.prom}", ""},
		{"{}", `path: path "": expected an absolute path such as /run/vitals/*.prom`},
		{"{path: vitals/*.prom}", `path: path "vitals/*.prom": expected an absolute path such as /run/vitals/*.prom`},
		{"{path: /run/vitals/}", `path: path "/run/vitals/": expected the files in the directory, such as /run/vitals/*.prom`},
		{"{path: /run/*/a.prom}", `path: path "/run/*/a.prom": expected a pattern only after the last /`},
		{"{path: '/run/vitals/[a.prom'}", `path: path "/run/vitals/[a.prom": expected a pattern such as *.prom after the last /`},
		{`{path: "/run/a\0b"}`, `path: path "/run/a\x00b": expected no NUL`},
		{"{path: /a, keep: ['(']}", `keep[0]: keep "(": expected a regular expression: error parsing regexp: missing closing ): ` + "`(`"},
		{"{path: /a, file_limit: 0, sample_limit: -1, size_limit: 0B}", "file_limit: file_limit 0: expected more than 0\nsample_limit: sample_limit -1: expected more than 0\nsize_limit: size_limit 0: expected more than 0"},
	} {
		if got := collectortest.Problems(t, tt.block, &textfile.Config{}); got != tt.want {
			t.Errorf("Problems(%s) =\n%s\nwant\n%s", tt.block, got, tt.want)
		}
	}
	if _, err := (&textfile.Config{Keep: []string{"("}}).New(collectors.Env{}); err == nil {
		t.Error("New() = nil, want the error of the expression")
	}
}

func TestForwards(t *testing.T) {
	config := &textfile.Config{Keep: []string{"backup_.*"}}
	var got []string
	for _, name := range []string{"backup_bytes", "raid", "vitals_state"} {
		if config.Forwards(name) {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, []string{"backup_bytes"}) {
		t.Errorf("forwarded are %q, want backup_bytes", got)
	}
}

package main

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/internal/history"
	"github.com/vitals-health/vitals/internal/tasks"
)

// printedEvents returns what vitals events prints about a process.
func (p *runningVitals) printedEvents() string {
	p.t.Helper()
	var out, errs strings.Builder
	if code := run([]string{"events", "--socket=" + p.socket, "--limit=0"}, &out, &errs); code != exitOK {
		p.t.Fatalf("vitals events = %d, %s", code, &errs)
	}
	return out.String()
}

// stored returns what the files of a directory hold, without the lock.
func stored(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "events-*.log"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// A process that is killed while its state flaps, and the one after it: what happened before
// is still there.
func TestStorageAfterKill(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	storage := filepath.Join(dir, "storage")
	first := runVitals(t, config, "--storage.path="+storage)
	first.waitReady()
	if !first.metric("vitals_storage_writable 1") {
		t.Error("/metrics has no vitals_storage_writable 1")
	}
	ctx, cancel := context.WithCancel(t.Context())
	flapping := make(chan struct{})
	go func() {
		defer close(flapping)
		for ctx.Err() == nil {
			_ = os.WriteFile(filepath.Join(dir, "bad"), nil, 0o600)
			_ = os.Remove(filepath.Join(dir, "bad"))
		}
	}()
	eventually(t, "a change to be stored", func() bool { return strings.Contains(stored(t, storage), `"name":"ready","from":"ok","to":"failing"`) })
	first.signal(syscall.SIGKILL)
	<-first.done
	cancel()
	<-flapping

	_ = os.Remove(filepath.Join(dir, "bad"))
	second := runVitals(t, config, "--storage.path="+storage)
	second.waitReady()
	printed := second.printedEvents()
	change := strings.Index(printed, "state     ready ok -> failing")
	restart := strings.Index(printed, "process   vitals: started; the process before it ended without notice, last seen 20")
	if change < 0 || restart < change {
		t.Errorf("vitals events printed, want a change of ready and then the restart:\n%s", printed)
	}
	if strings.Count(printed, "vitals: started") != 2 {
		t.Errorf("vitals events printed, want two starts:\n%s", printed)
	}
	failure := regexp.MustCompile(`"name": "Bad"[^}]*"slots": "[.oup]*f`)
	if code, body := second.get("/api/v1/history?span=1h"); code != 200 || !failure.MatchString(body) {
		t.Errorf("/api/v1/history = %d %s, want the failure of Bad in its strip", code, body)
	}
}

// A state that flaps by one rule beyond its budget, and then fails by another one: that is the last failure, while
// it lasts, when it has passed, and after the end of the process.
func TestLastFailureOfAFlappingState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "rules.yml", `groups:
  - name: markers
    rules:
      - {alert: MarkerGone, expr: 'vitals_file_exists{file="marker"} == 1', labels: {state: ready}, annotations: {summary: The marker is gone.}}
      - {alert: DiskFull, expr: 'vitals_file_exists{file="full"} == 1', labels: {state: ready}, annotations: {summary: The disk is full.}}
`)
	storage := filepath.Join(dir, "storage")
	p := runVitals(t, write(t, dir, "vitals.yml", strings.ReplaceAll(`evaluation_interval: 100ms
rule_files: [DIR/rules.yml]
collectors:
  - {name: marker, interval: 100ms, file: {path: DIR/marker}}
  - {name: full, interval: 100ms, file: {path: DIR/full}}
`, "DIR", dir)), "--storage.path="+storage, "--web.shutdown-delay=0s")
	p.waitReady()
	becomes := func(file string, fails bool) {
		if path := filepath.Join(dir, file); fails {
			write(t, dir, file, "")
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		eventually(t, file+" to be measured", func() bool { code, _ := p.get("/ready"); return (code == 503) == fails })
	}
	last := func(want string) {
		t.Helper()
		var out, errs strings.Builder
		code := run([]string{"explain", "ready", "--last", "--socket=" + p.socket}, &out, &errs)
		if first, _, _ := strings.Cut(out.String(), "\n"); code != exitOK || !regexp.MustCompile(want).MatchString(first) {
			t.Errorf("vitals explain --last = %d, %s\n%s, want %s", code, &out, &errs, want)
		}
	}
	for range 25 {
		becomes("marker", true)
		becomes("marker", false)
	}
	becomes("full", true)
	last("ready ok -> failing .*: DiskFull: The disk is full")
	becomes("full", false)
	last("ready ok -> (ok, 2 changes in .*, failing .*|failing .*): DiskFull: The disk is full") // on a slow machine, nothing flaps
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != exitOK {
		t.Errorf("exit code = %d, want 0", code)
	}
	if !regexp.MustCompile(`"kind":"state",[^\n]*"name":"DiskFull"`).MatchString(stored(t, storage)) {
		t.Error("the files have no event of DiskFull")
	}
	if log := p.log.String(); !regexp.MustCompile(`state=ready .*rules=\[DiskFull\]`).MatchString(log) {
		t.Errorf("the log has no line of DiskFull:\n%s", log)
	}
}

// SIGTERM leaves a last word, whose author the next process does not miss.
func TestStorageAfterSIGTERM(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	write(t, dir, "bad", "")
	storage := filepath.Join(dir, "storage")
	first := runVitals(t, config, "--storage.path="+storage, "--web.shutdown-delay=0s")
	eventually(t, "the failure to be stored", func() bool {
		return strings.Contains(stored(t, storage), `"kind":"rule","name":"Bad"`) // after the start, where it is unknown
	})
	first.signal(syscall.SIGTERM)
	if code := first.exit(); code != exitOK {
		t.Errorf("exit code = %d, want 0", code)
	}
	second := runVitals(t, config, "--storage.path="+storage)
	printed := second.printedEvents()
	for _, want := range []string{"vitals: shutting down: ready failing since ", ": Bad: the marker exists", "vitals: started\n"} {
		if !strings.Contains(printed, want) {
			t.Errorf("vitals events printed, want %q:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "without notice") {
		t.Errorf("vitals events printed an end without notice:\n%s", printed)
	}
}

// A directory that cannot be used changes no verdict: there is one warning and a gauge.
func TestStorageThatFails(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--storage.path="+filepath.Join(dir, "missing", "storage"))
	p.waitReady()
	if !p.metric("vitals_storage_writable 0") {
		t.Error("/metrics has no vitals_storage_writable 0")
	}
	if n := strings.Count(p.log.String(), `msg="events are not stored"`); n != 1 {
		t.Errorf("%d warnings, want one", n)
	}
	off := runVitals(t, config)
	if _, body := off.get("/metrics"); strings.Contains(body, "vitals_storage_writable") {
		t.Error("/metrics has vitals_storage_writable without --storage.path")
	}
}

// Two processes and one directory: both serve, and the first one stores.
func TestStorageOfTwoProcesses(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	storage := "--storage.path=" + filepath.Join(dir, "storage")
	first := runVitals(t, config, storage)
	second := runVitals(t, config, storage)
	second.waitReady()
	if !first.metric("vitals_storage_writable 1") || !second.metric("vitals_storage_writable 0") {
		t.Error("vitals_storage_writable is not 1 and 0")
	}
	if !strings.Contains(second.log.String(), "another process uses the directory") {
		t.Error("the log has no reason")
	}
}

// No file has a secret of the configuration, also if a collector's error could have it, and
// only the user can read them.
func TestStorageHasNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "rules.yml", `
groups:
  - name: g
    rules:
      - {alert: Down, expr: 'vitals_dependency_up{dependency="web"} == 0', labels: {state: ready}}
`)
	config := write(t, dir, "vitals.yml", `
rule_files: [rules.yml]
collectors:
  - name: web
    interval: 1s
    timeout: 1s
    http: {url: "http://127.0.0.1:1/x?api_key=`+canary+`", basic_auth: {username: u, password_file: `+write(t, dir, "password", canary)+`}}
  - name: script
    interval: 1s
    timeout: 1s
    script: {command: [/nonexistent, --password, `+canary+`]}
`)
	storage := filepath.Join(dir, "storage")
	p := runVitals(t, config, "--storage.path="+storage, "--web.shutdown-delay=0s")
	eventually(t, "the failures to be stored", func() bool {
		text := stored(t, storage)
		return strings.Contains(text, `"name":"web"`) && strings.Contains(text, `"name":"script"`) && strings.Contains(text, `"Down"`)
	})
	p.signal(syscall.SIGTERM)
	p.exit()
	err := filepath.WalkDir(storage, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %s, want it closed to others", path, info.Mode())
		}
		if d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), canary) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// SIGTERM leaves the verdicts from before the shutdown as the message of a container.
func TestShutdownLeavesAMessage(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	message := write(t, dir, "termination-log", "")
	write(t, dir, "bad", "")
	p := &program{configFile: config}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	d, err := p.newDaemon(l, discard())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	running := tasks.New(discard())
	running.Start("evaluator", func() { d.eval.Run(ctx) })
	eventually(t, "ready to fail by its rule", func() bool {
		events, _ := d.history.Events(history.Query{State: "ready"})
		started, _ := d.history.Events(history.Query{State: "started", Limit: 1})
		return len(events) > 0 && len(events[len(events)-1].Rules) > 0 && len(started) > 0 && started[0].To == history.OK
	})
	d.beginShutdown(running, message)
	eventually(t, "the shutdown", func() bool { return d.eval.Snapshot().ShuttingDown })
	cancel()
	running.Wait(patience)
	text, err := os.ReadFile(message)
	if err != nil || !regexp.MustCompile(`^ready failing since \d\d:\d\d:\d\d: Bad: the marker exists$`).Match(text) {
		t.Errorf("the message is %q, %v, want the rule that decides", text, err)
	}
}

// What is shipped stores nothing: the chart does on request only.
func TestShippedFilesStoreNothing(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join(docsRoot, "deploy"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		always := strings.ReplaceAll(string(text), "{{- if .Values.storage.enabled }}\n- --storage.path=", "")
		if strings.Contains(always, "--storage.") || strings.Contains(always, "\nstorage:\n  enabled: true") {
			t.Errorf("%s has a flag of storage, want it off", path)
		}
		files++
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v, want all that are shipped", files, err)
	}
}

// The last message of a container.
func TestLastMessage(t *testing.T) {
	dir := t.TempDir()
	log := &lines{}
	d := &daemon{logger: slog.New(slog.NewTextHandler(log, nil))}
	regular := write(t, dir, "termination-log", strings.Repeat("what was there ", 1000))
	d.lastMessage(regular, "ready failing since 03:12:07: KeystoneDown: Keystone does not answer.")
	wantText(t, regular, "ready failing since 03:12:07: KeystoneDown: Keystone does not answer.")
	d.lastMessage(regular, strings.Repeat("x", 2*maxMessage))
	wantText(t, regular, strings.Repeat("x", maxMessage-3)+"...")
	missing := filepath.Join(dir, "missing")
	d.lastMessage(missing, "all ok")
	if _, err := os.Lstat(missing); !os.IsNotExist(err) {
		t.Errorf("Lstat() = %v, want no file to be made", err)
	}
	d.lastMessage("", "all ok")
	if got := log.String(); got != "" {
		t.Errorf("the log is %q, want none where there is no container", got)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(regular, link); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, fifo} {
		d.lastMessage(path, "all ok")
		if !strings.Contains(log.String(), path) {
			t.Errorf("the log is %q, want a warning about %s", log, path)
		}
	}
	wantText(t, regular, strings.Repeat("x", maxMessage-3)+"...")
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s = %q, %v, want %q", path, got, err, want)
	}
}

// The flags of a storage that cannot be.
func TestStorageFlags(t *testing.T) {
	_, config := markerConfig(t)
	for flags, want := range map[string]string{
		"--storage.retention.size=1KB":   "--storage.retention.size: expected at least 64KB",
		"--storage.retention.size=much":  "--storage.retention.size: units: invalid much",
		"--storage.retention.time=0s":    "--storage.retention.time=0s: expected a duration above 0",
		"--storage.retention.time=never": `--storage.retention.time: not a valid duration string: "never"`,
	} {
		var out, errs strings.Builder
		code := run([]string{"run", "--config.file=" + config, "--storage.path=" + t.TempDir(), flags}, &out, &errs)
		if code != exitConfig || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d %q, want %d %q", flags, code, errs.String(), exitConfig, want)
		}
	}
}

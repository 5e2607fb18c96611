package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// reloadWays are the ways to make a running process load dir/vitals.yml
// has become another; text is the new one.
func reloadWays() map[string]func(t *testing.T, p *runningVitals, dir, text string) {
	return map[string]func(t *testing.T, p *runningVitals, dir, text string){
		"SIGHUP": func(t *testing.T, p *runningVitals, dir, text string) {
			write(t, dir, "vitals.yml", text)
			p.signal(syscall.SIGHUP)
		},
		"POST": func(t *testing.T, p *runningVitals, dir, text string) {
			write(t, dir, "vitals.yml", text)
			want := 200
			if strings.Contains(text, "unknown_key") {
				want = 500
			}
			code, body := request(t, http.DefaultTransport, http.MethodPost, p.url+"/-/reload", "")
			if code != want || want == 500 && !strings.Contains(body, `vitals.yml:1:1: unknown key "unknown_key"`) {
				t.Errorf("POST /-/reload = %d %q, want %d", code, body, want)
			}
		},
		"file change": func(t *testing.T, _ *runningVitals, dir, text string) { write(t, dir, "vitals.yml", text) },
		"symlink swap": func(t *testing.T, _ *runningVitals, dir, text string) {
			mount(t, dir, map[string]string{"vitals.yml": text, "rules.yml": markerRules})
		},
	}
}

// mount replaces all files of a directory at once, as the kubelet does with the
// volume of a ConfigMap: the files are links into ..data, which is a link itself.
func mount(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	version, err := os.MkdirTemp(dir, "..version")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, version, name, text)
		link := filepath.Join(dir, name)
		if target, err := os.Readlink(link); err != nil || target != "..data/"+name {
			_ = os.Remove(link)
			if err := os.Symlink("..data/"+name, link); err != nil {
				t.Fatal(err)
			}
		}
	}
	old, _ := os.Readlink(filepath.Join(dir, "..data"))
	next := filepath.Join(dir, "..data_tmp")
	err = errors.Join(os.Symlink(filepath.Base(version), next), os.Rename(next, filepath.Join(dir, "..data")))
	if err != nil {
		t.Fatal(err)
	}
	if old != "" {
		_ = os.RemoveAll(filepath.Join(dir, old))
	}
}

// TestReload takes a process from a good configuration over a bad one to another
// good one, in every way.
func TestReload(t *testing.T) {
	t.Parallel()
	const more = markers + "  - name: more\n    file: {path: /}\n"
	for name, change := range reloadWays() {
		t.Run(name, func(t *testing.T) {
			dir, config := markerConfig(t)
			if name == "symlink swap" {
				mount(t, dir, map[string]string{"vitals.yml": markers, "rules.yml": markerRules})
			}
			poll := "--config.poll-interval=0"
			if name != "SIGHUP" && name != "POST" {
				poll = "--config.poll-interval=50ms"
			}
			p := runVitals(t, config, "--web.enable-lifecycle", poll)
			p.waitReady()
			before := p.status().Reload
			if !before.OK || before.Error != "" || !p.metric("vitals_config_last_reload_successful 1") {
				t.Errorf("reload before any = %+v, want a success", before)
			}

			change(t, p, dir, "unknown_key: 1\n"+more)
			eventually(t, "the bad file to be noticed", func() bool { return p.metric("vitals_config_last_reload_successful 0") })
			s := p.status()
			const mistake = `vitals.yml:1:1: unknown key "unknown_key"`
			if s.Reload.OK || !strings.Contains(s.Reload.Error, mistake) || !s.Reload.LastSuccess.Equal(before.LastSuccess) {
				t.Errorf("reload = %+v, want a failure with %q that remembers the last success", s.Reload, mistake)
			}
			eventually(t, "the mistake to be logged", func() bool { return strings.Contains(p.log.String(), "configuration is invalid") })
			if log := p.log.String(); strings.Count(log, "configuration is invalid; the last valid one stays in use") != 1 || !strings.Contains(log, `unknown key \"unknown_key\"`) {
				t.Errorf("log = %q, want the mistake in it once", log)
			}
			if code, body := p.get("/ready"); code != 200 || len(s.Collectors) != 1 {
				t.Errorf("/ready = %d %q with %d collectors, want the last good configuration to go on", code, body, len(s.Collectors))
			}

			change(t, p, dir, more)
			eventually(t, "the good file to be taken", func() bool {
				return p.metric("vitals_config_last_reload_successful 1") && p.metric(`vitals_collector_success{collector="more"} 1`)
			})
			if s := p.status(); s.Reload.Error != "" || !s.Reload.LastSuccess.After(before.LastSuccess) {
				t.Errorf("reload = %+v, want a success after %s", s.Reload, before.LastSuccess)
			}
		})
	}
}

// TestReloadOverHTTPIsOffByDefault also shows that the request changes nothing.
func TestReloadOverHTTPIsOffByDefault(t *testing.T) {
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--config.poll-interval=0")
	p.waitReady()
	write(t, dir, "vitals.yml", "unknown_key: 1\n")
	if code, _ := request(t, http.DefaultTransport, http.MethodPost, p.url+"/-/reload", ""); code != 403 {
		t.Errorf("POST /-/reload = %d, want 403", code)
	}
	if !p.status().Reload.OK {
		t.Error("the configuration was loaded, want it left alone")
	}
}

// TestReloadOfWhatAConfigurationNames changes files that are not the configuration
// file itself; each step mends or breaks one and waits for the outcome.
func TestReloadOfWhatAConfigurationNames(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--config.poll-interval=50ms")
	p.waitReady()
	reloaded := func(what string, ok bool, name, text string) {
		t.Helper()
		last := p.status().Reload // before the change, which may be noticed at once
		write(t, dir, name, text)
		eventually(t, what, func() bool {
			now := p.status().Reload
			return now.OK == ok && (last.OK != ok || now.At.After(last.At))
		})
	}
	// A configuration that names a rule file which is broken, and mended later.
	write(t, dir, "more.yml", "groups: oops\n")
	reloaded("the broken rule file to be refused", false, "vitals.yml", strings.Replace(markers, "rules.yml", `rules.yml, "m*.yml"`, 1))
	reloaded("the mended rule file to be taken", true, "more.yml", "groups: [{name: m, rules: [{alert: More, expr: up == 0}]}]\n")
	if p.rule("More").Name == "" {
		t.Error("the rule of the mended file is not there")
	}
	// A further file that the glob matches.
	write(t, dir, "most.yml", "groups: [{name: n, rules: [{alert: Most, expr: up == 0}]}]\n")
	eventually(t, "the new rule file to be taken", func() bool { return p.rule("Most").Name != "" })
	if err := os.Remove(filepath.Join(dir, "most.yml")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the removed rule file to be dropped", func() bool { return p.rule("Most").Name == "" })
	// A secret that is not there yet.
	secret := filepath.Join(dir, "token")
	reloaded("the missing secret to be refused", false, "vitals.yml", markers+"server: {component_token: \"${file:"+secret+"}\"}\n")
	reloaded("the secret to be read", true, "token", "s3cr3t-word\n")
	if _, body := p.get("/config"); strings.Contains(body+p.log.String(), "s3cr3t-word") {
		t.Errorf("/config = %q, log %q, want no secret", body, p.log)
	}
}

// TestConfigurationFromAPipe is about vitals run --config.file=<(generate).
func TestConfigurationFromAPipe(t *testing.T) {
	_, config := markerConfig(t)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte(strings.Replace(string(text), "rules.yml", filepath.Join(filepath.Dir(config), "rules.yml"), 1))); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	p := runVitalsWith(t, in, "/dev/fd/3", "--config.poll-interval=10ms", "--web.shutdown-delay=0s")
	_ = in.Close()
	p.waitReady()
	generation := p.status().Generation
	eventually(t, "some time to pass", func() bool { return p.status().Generation > generation+5 })
	if s := p.status().Reload; !s.OK {
		t.Errorf("reload = %+v, want the pipe read once", s)
	}
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

// TestReloadKeepsTimers changes everything around a rule that is pending.
func TestReloadKeepsTimers(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	const rule = `
groups:
  - name: g
    rules:
      - alert: Slow
        expr: vitals_file_exists{file="bad"} == 1
        for: 1h
        labels: {state: ready}
`
	write(t, dir, "rules.yml", rule+"      - {alert: Gone, expr: vitals_file_exists == 1, for: 1h}\n      - {record: gone:exists, expr: vitals_file_exists + 1}\n")
	write(t, dir, "bad", "")
	p := runVitals(t, config, "--config.poll-interval=0")
	eventually(t, "the rules to be pending", func() bool { return p.rule("Slow").Status == "pending" && p.rule("Gone").Status == "pending" })
	before := p.rule("Slow")

	write(t, dir, "rules.yml", rule+"        annotations: {summary: with words}\n      - {alert: New, expr: vitals_file_exists == 1, for: 1h}\n")
	write(t, dir, "vitals.yml", strings.Replace(markers, "evaluation_interval: 100ms", "evaluation_interval: 150ms", 1)+"  - name: more\n    file: {path: /}\n")
	p.signal(syscall.SIGHUP)
	eventually(t, "the new rule to be there", func() bool { return p.rule("New").Name != "" })
	after := p.rule("Slow")
	if len(after.Alerts) != 1 || !after.Alerts[0].ActiveAt.Equal(before.Alerts[0].ActiveAt) || !after.Since.Equal(before.Since) {
		t.Errorf("Slow = %+v, want it pending since %s as before", after, before.Since)
	}
	if after.Summary != "with words" {
		t.Errorf("summary = %q, want the new one", after.Summary)
	}
	if age := p.rule("New").Since.Sub(before.Since); age <= 0 {
		t.Errorf("New is pending %s longer than Slow, want it to begin at the reload", -age)
	}
}

// TestReloadEndsSeries removes a collector, a state and rules.
func TestReloadEndsSeries(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	write(t, dir, "vitals.yml", "states: {gold: {}}\n"+markers+"  - name: more\n    file: {path: /}\n")
	p := runVitals(t, config, "--config.poll-interval=0")
	gone := []string{
		`vitals_file_exists{file="more"} 1`, `vitals_collector_success{collector="more"} 1`,
		`vitals_rule_status{rule="Dead",state="alive",status="ok"} 1`, `vitals_state{state="gold"} 0`,
	}
	for _, line := range gone {
		eventually(t, line, func() bool { return p.metric(line) })
	}
	write(t, dir, "vitals.yml", markers)
	write(t, dir, "rules.yml", strings.Replace(markerRules, "Dead", "Other", 1))
	p.signal(syscall.SIGHUP)
	eventually(t, "the new rule", func() bool { return p.metric(`vitals_rule_status{rule="Other",state="alive",status="ok"} 1`) })
	_, body := p.get("/metrics")
	for _, part := range []string{`"more"`, `"Dead"`, `"gold"`} {
		if strings.Contains(body, part) {
			t.Errorf("/metrics still has series with %s", part)
		}
	}
	if code, _ := p.get("/gold"); code != 404 {
		t.Errorf("/gold = %d, want 404", code)
	}
	if !p.metric(`vitals_file_exists{file="bad"} 0`) {
		t.Error("the series of the collector that stayed are gone")
	}
}

// TestReloadThatCannotMakeACollector has a configuration without a mistake in it.
func TestReloadThatCannotMakeACollector(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--config.poll-interval=0")
	p.waitReady()
	text := strings.Replace(markers, "name: bad", "name: renamed", 1)
	write(t, dir, "vitals.yml", text+"  - name: api\n    kubernetes: {kubeconfig: /nowhere/config}\n")
	p.signal(syscall.SIGHUP)
	eventually(t, "the outcome", func() bool { return !p.status().Reload.OK })
	if got, want := p.status().Reload.Error, `vitals.yml:9:5: collectors[1]: collector "api": kubernetes: load kubeconfig`; !strings.Contains(got, want) {
		t.Errorf("error = %q, want %q in it", got, want)
	}
	run := p.collector("bad").LastRun
	eventually(t, "another round of the old collector", func() bool { return p.collector("bad").LastRun.After(run) })
	if n := len(p.status().Collectors); n != 1 {
		t.Errorf("%d collectors, want the old one only", n)
	}
	if code, body := p.get("/ready"); code != 200 {
		t.Errorf("/ready = %d %q, want 200", code, body)
	}
}

// TestReloadWithoutTheComponents removes the collector that accepts reports, and adds it again.
func TestReloadWithoutTheComponents(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	const components = "  - name: parts\n    components: {accept: any}\n"
	write(t, dir, "vitals.yml", markers+components)
	p := runVitals(t, config, "--config.poll-interval=0")
	p.waitReady()
	put := func() int {
		code, _ := request(t, overSocket(p.socket), http.MethodPut, "http://vitals/api/v1/components/watcher", `{"ready": true}`)
		return code
	}
	for _, step := range []struct {
		text string
		want int
	}{{markers + components, 204}, {markers, 404}, {markers + components, 204}} {
		write(t, dir, "vitals.yml", step.text)
		p.signal(syscall.SIGHUP)
		eventually(t, fmt.Sprintf("a PUT to be answered with %d", step.want), func() bool { return put() == step.want })
	}
	eventually(t, "the report to show at once", func() bool { return p.metric(`vitals_component_ready{component="watcher"} 1`) })
}

// TestSignalsAreNotLost sends SIGHUP as soon as the process can be seen.
func TestSignalsAreNotLost(t *testing.T) {
	_, config := markerConfig(t)
	p := runVitals(t, config, "--config.poll-interval=0")
	p.signal(syscall.SIGHUP)
	eventually(t, "the reload", func() bool {
		p.running()
		return strings.Contains(p.log.String(), "configuration loaded")
	})
	p.waitReady()
}

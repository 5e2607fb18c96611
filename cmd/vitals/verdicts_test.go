package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/sdnotify/sdnotifytest"
	"github.com/vitals-health/vitals/internal/states"
)

const verdictsPage = "docs/reference/verdicts.md"

// wordRules make a state of each verdict: state_ok is ok, and a rule of state_pending is pending.
const wordRules = `
groups:
  - name: words
    rules:
      - {alert: Calm, expr: vitals_file_exists > 5, labels: {state: ready}, annotations: {summary: It is so.}}
      - {alert: Fine, expr: vitals_file_exists > 5, labels: {state: state_ok}, annotations: {summary: It is so.}}
      - {alert: Low, expr: vitals_file_exists == 0, labels: {state: state_warning, severity: warning}, annotations: {summary: It is so.}}
      - {alert: Bad, expr: vitals_file_exists == 0, labels: {state: state_failing}, annotations: {summary: It is so.}}
      - {alert: Blind, expr: vitals_tcp_up == 0, labels: {state: state_unknown}, annotations: {summary: It is so.}}
      - {alert: Soon, expr: vitals_file_exists == 0, for: 1h, labels: {state: state_pending}, annotations: {summary: It is so.}}
      - {alert: Later, expr: vitals_file_exists == 0, for: 1h, labels: {state: state_pending, severity: warning}, annotations: {summary: It is so.}}
`

// wordConfig writes a configuration with the states of wordRules.
func wordConfig(t *testing.T) (dir, config string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "rules.yml", wordRules)
	lines := []string{"evaluation_interval: 100ms", "rule_files: [rules.yml]", "states:"}
	for _, word := range states.Words() {
		lines = append(lines, "  state_"+word+": {at_start: pass}")
	}
	lines = append(lines, "collectors: [{name: gone, interval: 1s, timeout: 1s, file: {path: "+dir+"/gone}}]", "")
	return dir, write(t, dir, "vitals.yml", strings.Join(lines, "\n"))
}

// settled waits until the rules have the data of the first collection.
func (p *runningVitals) settled() {
	p.t.Helper()
	eventually(p.t, "the states to have their verdicts", func() bool {
		return p.rule("Soon").Status == states.Pending && p.rule("Bad").Status == states.Failing && p.rule("Fine").Status == states.OK
	})
}

// verdictRow computes the cells of the table that come from the program, from a state with the
// word: of the row pending, from one with a pending rule.
func (p *runningVitals) verdictRow(icons map[string]string, word string) []string {
	p.t.Helper()
	state := "state_" + word
	_, plain := p.get("/plain")
	shown := regexp.MustCompile(`<a href="` + state + `\?verbose">.*?<span class="badge \w+">. (\w+)</span>`).FindStringSubmatch(plain)
	if word == states.Pending {
		shown = regexp.MustCompile(`>Soon</th>.*?<span class="badge \w+">(\w+)</span>`).FindStringSubmatch(plain)
	}
	if shown == nil {
		p.t.Fatalf("/plain has no verdict of %s:\n%s", state, plain)
	}
	var answer struct{ Status string }
	var whole struct {
		States []struct{ Name, Verdict, Status string }
	}
	code, body := request(p.t, http.DefaultTransport, http.MethodGet, p.url+"/"+state, "", "Accept", "application/health+json")
	_, all := p.get("/api/v1/status")
	for into, body := range map[any]string{&answer: body, &whole: all} {
		if err := json.Unmarshal([]byte(body), into); err != nil {
			p.t.Fatalf("%q: %v", body, err)
		}
	}
	verdict, status := "", ""
	for _, st := range whole.States {
		if st.Name == state {
			verdict, status = st.Verdict, st.Status
		}
	}
	result := execprobe.Query(p.socket, state, time.Now().Add(patience))
	nagios, _, _ := strings.Cut(execprobe.Nagios.Render(result), ":")
	metric := "0"
	if p.metric(`vitals_state{state="` + state + `"} 1`) {
		metric = "1"
	}
	return []string{
		icons[word] + " " + shown[1], fmt.Sprint(execprobe.Plain.Code(result)), fmt.Sprint(code), "`" + serving(within(p.t), health(p.t, p.url, insecure.NewCredentials()), state) + "`", "`" + answer.Status + "`",
		fmt.Sprintf("%s %d", nagios, execprobe.Nagios.Code(result)), metric, "`" + verdict + "`", "`" + status + "`",
	}
}

// pageIcons returns the signs that the status page shows before the words.
func pageIcons(t *testing.T) map[string]string {
	t.Helper()
	icons := map[string]string{}
	_, table, _ := strings.Cut(readDoc(t, "internal/server/page/assets/view.js"), "export const icons = {")
	table, _, _ = strings.Cut(table, "}")
	for _, m := range regexp.MustCompile(`(\w+): "(.)"`).FindAllStringSubmatch(table, -1) {
		icons[m[1]] = m[2]
	}
	return icons
}

// Each cell of the table is what the program returns for a state of that verdict.
func TestVerdictTable(t *testing.T) {
	t.Parallel()
	_, config := wordConfig(t)
	p := runVitals(t, config)
	p.settled()
	tables := docTables(readDoc(t, verdictsPage), "word")
	if len(tables) != 1 {
		t.Fatalf("%s has %d tables of words, want 1", verdictsPage, len(tables))
	}
	var want, got [][]string
	icons := pageIcons(t)
	for _, word := range states.Words() {
		want = append(want, append([]string{"`" + word + "`"}, p.verdictRow(icons, word)...))
	}
	for _, row := range tables[0].rows {
		got = append(got, append(row[:1:1], row[3:]...)) // without the two that are prose
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table of %s (-the program +the page):\n%s", verdictsPage, diff)
	}
}

// oldWords are words for a verdict that only formats for machines have. Excepted are sentences
// in which they are verbs or values of the configuration.
var (
	oldWords = regexp.MustCompile(`(?i)\b(pass|passes|passed|passing|warn|warns|warned|fail|fails|yes|healthy|unhealthy)\b`)
	excepted = regexp.MustCompile(`make it fail\b|makes it fail\b|state_\w+ check (passed|failed)\n|level=WARN\b|no_data: \w+|collector +\w+: fails,|, fails if`)
)

// surfaces returns all that people read about a state, by where they read it.
func (p *runningVitals) surfaces(dir, state string) map[string]string {
	p.t.Helper()
	tags := regexp.MustCompile(`(?s)<(style|head)>.*?</(style|head)>|<[^>]*>`)
	get := func(path string) string {
		_, body := p.get(path)
		if strings.HasPrefix(body, "<") {
			body = html.UnescapeString(tags.ReplaceAllString(body, " "))
		}
		return body
	}
	command := func(args ...string) string {
		var out, errs strings.Builder
		run(args, &out, &errs)
		return out.String() + errs.String()
	}
	result := execprobe.Query(p.socket, state, time.Now().Add(patience))
	daemon, config := "--socket="+p.socket, "--config.file="+filepath.Join(dir, "vitals.yml")
	return map[string]string{
		"badge": get("/badge/" + state + ".svg"), "plain page": get("/plain"), "verbose body": get("/" + state + "?verbose"), "body": get("/" + state),
		"exec probe": execprobe.Plain.Render(result), "docker": execprobe.Docker.Render(result), "sonic": execprobe.Sonic.Render(result),
		"explain": command("explain", state, daemon), "explain --all": command("explain", state, "--all", daemon),
		"events": command("events", "--state="+state, "--verbose", daemon), "explain --last": command("explain", state, "--last", daemon),
		"wait": command("wait", state, daemon, "--timeout=1s"), "once": command("once", state, config),
		"log": p.log.String(),
	}
}

// In all that people read, a verdict has its word, and none of other formats.
func TestOneLanguageOfVerdicts(t *testing.T) {
	m := sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
	dir, config := wordConfig(t)
	t.Setenv("VITALS_TEST_DIR", dir)
	p := runVitals(t, config)
	p.settled()
	m.Await("STATUS=ready ok, alive ok, state_failing failing (Bad), state_ok ok, state_pending ok, state_unknown unknown (Blind), state_warning warning (Low)\nREADY=1")
	for _, word := range states.Words() {
		state, now := "state_"+word, word
		if word == states.Pending {
			now = states.OK
		}
		want := map[string]string{
			"badge": state + ": " + now, "plain page": state + `\s+. ` + now + `\s`, "exec probe": "^" + now + ` \d `, "docker": "^" + now + ` \d `, "sonic": "^" + now + ` \d+ `,
			"explain": "^" + state + ": " + now + " since ", "explain --all": "^" + state + ": " + now + " since ", "wait": now + ` \d `,
		}
		if now != states.Warning { // the log does not have a warning that began with the process
			want["log"] = `msg="state ` + now + `" state=` + state + `\b`
		}
		if now != states.OK {
			want["events"], want["explain --last"] = `state +`+state+` (is|.* ->) `+now+`\b`, state+" .*"+now
		}
		if now == states.Failing { // the failure began without data
			want["explain --last"] = `^\S+ \S+  state +` + state + ` is unknown:(?s:.*)` + state + " unknown -> failing"
		}
		if now == states.Failing || now == states.Unknown {
			want["verbose body"], want["body"] = `(?m)^\[-\]\w+ `+now+`: `, `^\w+ `+now+`: `
		}
		for where, text := range p.surfaces(dir, state) {
			if text == "" {
				t.Errorf("%s of %s is empty", where, state)
			}
			if pattern := want[where]; !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%s of %s: want a match of %q in:\n%s", where, state, pattern, text)
			}
			if bad := oldWords.FindString(excepted.ReplaceAllString(text, "")); bad != "" {
				t.Errorf("%s of %s has %q for a verdict:\n%s", where, state, bad, text)
			}
		}
	}
}

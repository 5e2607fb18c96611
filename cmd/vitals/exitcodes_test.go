package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// The page has the table of the program.
func TestPageHasTheExitCodes(t *testing.T) {
	var want, got []string
	for _, c := range exitCodes() {
		commands := c.commands
		if commands == nil {
			commands = []string{"all"}
		}
		want = append(want, fmt.Sprintf("`%s` | %s | %s", strings.Replace(c.code, "-", "` to `", 1), strings.Join(commands, ", "), c.means))
	}
	for _, table := range docTables(readDoc(t, commandPage), "exit code") {
		for _, row := range table.rows {
			got = append(got, strings.Join(row, " | "))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s has the exit codes\n%s\nwant\n%s", commandPage, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The help of the program names all exit codes, that of each command exactly its own.
func TestHelpHasTheExitCodes(t *testing.T) {
	all := strings.Join(strings.Fields(docHelp(t, "")), " ")
	for _, c := range exitCodes() {
		if !strings.Contains(all, c.code+" "+c.name) {
			t.Errorf("vitals --help = %s, want %s %s", all, c.code, c.name)
		}
	}
	for command := range docCommands(t) {
		_, listed, _ := strings.Cut(docHelp(t, command), "\nExit codes:\n")
		for _, c := range exitCodes() {
			line := fmt.Sprintf("  %-7s %s\n", c.code, c.means)
			if strings.Contains(listed, line) != c.of(command) {
				t.Errorf("vitals %s --help lists %q, want it to be in there: %v", command, line, c.of(command))
			}
		}
	}
}

// returned is a code with which a command ended.
type returned struct {
	command string
	code    int
}

// has reports whether the table has the code for the command.
func (r returned) has(t *testing.T) bool {
	t.Helper()
	return slices.ContainsFunc(exitCodes(), func(c exitCode) bool {
		first, last, isRange := strings.Cut(c.code, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, wrong := strconv.Atoi(last)
		if err != nil || wrong != nil {
			t.Fatalf("the code %q is no number and no range", c.code)
		}
		return c.of(r.command) && r.code >= from && r.code <= to
	})
}

// scriptedCodes returns the codes of the commands in the scripts, which run them. Styles other
// than plain have codes of their own.
func scriptedCodes(t *testing.T) []returned {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("Glob() = %v, %v, want the scripts", files, err)
	}
	commands := docCommands(t)
	line := regexp.MustCompile(`(?m)^(?:exits (\d+)|exec) vitals (.*)$`)
	var all []returned
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(m[2])
			name := words[0]
			if len(words) > 1 && commands[name] == nil {
				name += " " + words[1]
			}
			if code, _ := strconv.Atoi(m[1]); commands[name] != nil && !strings.Contains(m[2], "--style") {
				all = append(all, returned{name, code})
			}
		}
	}
	return all
}

// Commands return no code that the table lacks for them, and each code of the table: in the
// scripts, or here with a daemon on a real socket.
func TestCommandsReturnTheExitCodes(t *testing.T) {
	verdict := func(v execprobe.Verdict) http.HandlerFunc {
		v.State = "ready"
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(v.Text()) }
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", code) }
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	silent := httptest.NewServer(http.HandlerFunc(hang))
	defer silent.Close()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "rules.yml"), "groups: [{name: g, rules: [{alert: Down, expr: 'vitals_dependency_up == 0', labels: {state: ready}, annotations: {summary: Down.}}]}]\n")
	writeFile(t, filepath.Join(dir, "vitals.yml"), "rule_files: [rules.yml]\ncollectors: [{name: web, http: {url: '"+silent.URL+"'}}]\n")
	config := "--config.file=" + filepath.Join(dir, "vitals.yml")
	writeFile(t, filepath.Join(dir, "empty.yml"), "collectors: []\n")
	type try struct {
		returned
		args   string
		daemon http.HandlerFunc
	}
	tries := []try{
		{returned{"once", 5}, "once ready --timeout=500ms " + config, nil},
		{returned{"once", 8}, "once alive --config.file=" + filepath.Join(dir, "empty.yml"), nil},
		{returned{"profiles list", 3}, "profiles list --nonsense", nil},
		{returned{"generate schema", 1}, "generate schema --check --out=" + t.TempDir(), nil},
		{returned{"wait", 1}, "wait --timeout=2s", verdict(execprobe.Verdict{Verdict: "fail", Reason: "Down", Rule: "Down", Status: "failing", Rules: 1, Failing: 1, Lines: []string{"Down failing: Down."}})},
		{returned{"demo", 3}, "demo --web.listen-address=nonsense", nil},
		{returned{"wait", 6}, "wait --timeout=2s", verdict(execprobe.Verdict{Verdict: "fail", Stalled: true, Reason: "evaluator stalled"})},
		{returned{"wait", 8}, "wait --timeout=2s", verdict(execprobe.Verdict{Verdict: "fail", Reason: "no rules"})},
	}
	for _, command := range []string{"wait", "explain", "events", "silence", "maintenance"} {
		timeout := " --timeout=10s"
		if command == "wait" {
			timeout = " --timeout=2s" // it tries again until then
		}
		tries = append(tries,
			try{returned{command, 4}, command + timeout + " --url=http://127.0.0.1:1", nil},
			try{returned{command, 5}, command + " --timeout=200ms", hang},
			try{returned{command, 7}, command + timeout, status(401)},
			try{returned{command, 9}, command + timeout, status(500)},
		)
	}
	seen := scriptedCodes(t)
	t.Run("daemons", func(t *testing.T) {
		for _, c := range tries {
			seen = append(seen, c.returned)
			t.Run(fmt.Sprint(c.command, c.code), func(t *testing.T) {
				t.Parallel()
				args := strings.Fields(c.args)
				if c.daemon != nil {
					server := httptest.NewServer(c.daemon)
					defer server.Close()
					args = append(args, "--url="+server.URL)
				}
				var out, errs bytes.Buffer
				if code := run(args, &out, &errs); code != c.code {
					t.Errorf("vitals %s = %d, %s%s, want %d", c.args, code, &out, &errs, c.code)
				}
			})
		}
	})
	for _, r := range seen {
		if !r.has(t) {
			t.Errorf("vitals %s returns %d, which the table does not have for it", r.command, r.code)
		}
	}
	// A listener that ends, and a stream that breaks, have no script: serve and runListener
	// return that code in one place each.
	untried := []returned{{"run", 1}, {"demo", 1}, {"supervisor-listener", 1}}
	for command := range docCommands(t) {
		for code := range 10 {
			r := returned{command, code}
			if code > 0 && r.has(t) && !slices.Contains(seen, r) && !slices.Contains(untried, r) {
				t.Errorf("the table has the code %d for vitals %s, and no script and no case returns it", code, command)
			}
		}
	}
}

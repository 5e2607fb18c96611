package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/dashboards/alerts"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/rules"
)

const runbooks = "docs/runbooks/"

// alertsAboutVitals returns the alerts of dashboards/alerts/alerts.yml.
func alertsAboutVitals(t *testing.T) []rules.Rule {
	t.Helper()
	f, errs := rules.Parse("alerts.yml", []byte(readDoc(t, "dashboards/alerts/alerts.yml")), []string{evaluator.Ready, evaluator.Alive})
	if len(errs) > 0 || len(f.Groups) != 1 {
		t.Fatalf("alerts.yml has %d groups and the mistakes %v, want one group", len(f.Groups), errs)
	}
	return f.Groups[0].Rules
}

// Every alert has a page at its runbook_url, every page belongs to an alert, and the index
// lists all of them. Pages and index have the severity and the "for" of the alert.
func TestRunbooksAreThoseOfTheAlerts(t *testing.T) {
	var pages, indexed []string
	for _, page := range docPages(t) {
		if name := path.Base(page); strings.HasPrefix(page, runbooks) && name != "README.md" && name != "kuryr.md" {
			pages = append(pages, strings.TrimSuffix(name, ".md"))
		}
	}
	rows := map[string][]string{}
	for _, row := range docTables(readDoc(t, runbooks+"README.md"), "alert")[0].rows {
		name, _, _ := strings.Cut(strings.TrimPrefix(row[0], "["), "]")
		indexed, rows[name] = append(indexed, name), row
	}
	var names []string
	for _, r := range alertsAboutVitals(t) {
		names = append(names, r.Alert)
		want := strings.Replace(alerts.DefaultRunbooks, "NAME", r.Alert, 1)
		if url := r.Annotations["runbook_url"]; url != want || !strings.HasSuffix(want, "/"+runbooks+r.Alert+".md") {
			t.Errorf("the runbook of %s is %s, want the page of this repository", r.Alert, url)
		}
		wait := model.Duration(r.For).String()
		if row := rows[r.Alert]; len(row) != 4 || row[1] != r.Severity || row[2] != wait {
			t.Errorf("the row of the index is %v for %s, want %s after %s", row, r.Alert, r.Severity, wait)
		}
		if slices.Contains(pages, r.Alert) {
			checkRunbook(t, r.Alert, fmt.Sprintf("Severity `%s`, after `%s`.", r.Severity, wait))
		}
	}
	if a, b := missing(names, pages), missing(pages, names); len(a)+len(b) > 0 {
		t.Errorf("no runbook for the alerts %v, and runbooks without an alert: %v", a, b)
	}
	if !slices.Equal(indexed, names) {
		t.Errorf("the index lists %v, want %v", indexed, names)
	}
}

// checkRunbook checks that a page has the sections of all runbooks, a command for the
// diagnosis, and one that silences this alert.
func checkRunbook(t *testing.T, alert, severity string) {
	t.Helper()
	text := readDoc(t, runbooks+alert+".md")
	if !strings.HasPrefix(text, "# "+alert+"\n\n"+severity+"\n") {
		t.Errorf("the page of %s does not begin with its name and %q", alert, severity)
	}
	want := []string{strings.ToLower(alert), "what-it-means", "impact", "diagnosis", "what-to-do", "how-to-silence-it"}
	if got := docAnchors(text); !slices.Equal(got, want) {
		t.Errorf("the page of %s has the parts %v, want %v", alert, got, want)
	}
	_, diagnosis, _ := strings.Cut(text, "\n## Diagnosis\n")
	diagnosis, _, _ = strings.Cut(diagnosis, "\n## ")
	_, silence, _ := strings.Cut(text, "\n## How to silence it\n")
	if !strings.Contains(diagnosis, "```sh\n") || !strings.Contains(silence, "\namtool silence add alertname="+alert+" ") {
		t.Errorf("the page of %s has no command for the diagnosis, or none that silences it", alert)
	}
}

// Every alert of Kuryr's rule files has a section of the page, to which its runbook_url links.
func TestRunbookOfKuryrHasEveryAlert(t *testing.T) {
	var all, parts []string
	page := strings.TrimSuffix(alerts.DefaultRunbooks, "NAME.md") + "kuryr.md#"
	for _, name := range kuryrRules() {
		data, err := fs.ReadFile(rules.Shipped(), strings.TrimPrefix(name, config.BuiltinPrefix)+".yml")
		if err != nil {
			t.Fatal(err)
		}
		f, errs := rules.Parse(name, data, []string{evaluator.Ready, evaluator.Alive})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" && !slices.Contains(all, r.Alert) {
					all = append(all, r.Alert)
				}
				// The anchor of a heading on GitHub is the heading in lower case.
				if got, want := r.Annotations["runbook_url"], page+strings.ToLower(r.Alert); r.Alert != "" && got != want {
					t.Errorf("%s: the runbook of %s is %q, want %q", name, r.Alert, got, want)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(readDoc(t, runbooks+"kuryr.md"), -1) {
		parts = append(parts, m[1])
	}
	if a, b := missing(all, parts), missing(parts, all); len(a)+len(b) > 0 || len(parts) < 25 {
		t.Errorf("no section for the alerts %v, and sections without an alert: %v", a, b)
	}
}

// alertPages returns the pages whose commands are checked.
func alertPages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(docsRoot, runbooks, "*.md"))
	if err != nil || len(found) < 10 {
		t.Fatalf("Glob() = %v, %v, want the runbooks", found, err)
	}
	pages := []string{"docs/guides/alerting.md"}
	for _, p := range found {
		pages = append(pages, runbooks+filepath.Base(p))
	}
	return pages
}

// The commands of the runbooks are valid: those of vitals parse, those of curl request an
// existing path of Vitals, and the others are common programs.
func TestCommandsOfTheRunbooks(t *testing.T) {
	programs := strings.Fields("amtool base64 date df dmesg free grep ip jq journalctl kubeadm kubectl ls openssl openstack ovs-vsctl systemctl")
	paths := firstColumn(readDoc(t, endpointPage), "path")
	ran := map[string]int{}
	for _, page := range alertPages(t) {
		for _, block := range docFences(page, readDoc(t, page), "sh") {
			for _, words := range shellCommands(t, block) {
				ran[words[0]]++
				switch {
				case words[0] == "vitals":
					if err := parseOnly(words[1:]); err != nil {
						t.Errorf("%s: %v: %v", block.where, words, err)
					}
				case words[0] == "curl":
					if p, ok := requestedPath(words); !ok || !slices.ContainsFunc(paths, func(pattern string) bool { return matchesPath(pattern, p) }) {
						t.Errorf("%s: %v requests %q, want a path of Vitals", block.where, words, p)
					}
				case !slices.Contains(programs, words[0]):
					t.Errorf("%s: %s is none of the programs %v", block.where, words[0], programs)
				}
			}
		}
	}
	if ran["vitals"] < 10 || ran["curl"] < 10 {
		t.Errorf("the commands are %v, want more of vitals and curl", ran)
	}
}

// requestedPath returns the path of the URL among the words.
func requestedPath(words []string) (string, bool) {
	for _, w := range words {
		if rest, ok := strings.CutPrefix(w, "http://$INSTANCE"); ok {
			p, _, _ := strings.Cut(rest, "?")
			return p, true
		}
	}
	return "", false
}

// matchesPath reports whether a path matches a pattern, in which a part in capitals matches
// any part.
func matchesPath(pattern, p string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(p, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || w != "" && w == strings.ToUpper(w) && g != "" })
}

// shellCommands returns the commands of a block, split into words. Pipes and newlines separate
// commands. It supports only the syntax of the pages: quotes, comments and continued lines.
func shellCommands(t *testing.T, block docFence) [][]string {
	t.Helper()
	token := regexp.MustCompile(`^(?:[ \t]+|#[^\n]*|(\||\n)|((?:"[^"\n]*"|'[^'\n]*'|[^\s"'|#])+))`)
	text := strings.ReplaceAll(block.text, "\\\n", " ")
	var all [][]string
	var words []string
	for text != "" {
		m := token.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s: %q has an unsupported syntax", block.where, text)
		}
		text = text[len(m[0]):]
		switch {
		case m[2] != "":
			words = append(words, strings.NewReplacer(`"`, "", `'`, "").Replace(m[2]))
		case m[1] != "" && words != nil:
			all, words = append(all, words), nil
		}
	}
	return all
}

// The files that docs/guides/alerting.md applies exist.
func TestFilesOfTheAlertingPage(t *testing.T) {
	for _, m := range regexp.MustCompile(`-f ([\w/.-]+)`).FindAllStringSubmatch(readDoc(t, "docs/guides/alerting.md"), -1) {
		if _, err := os.Stat(filepath.Join(docsRoot, m[1])); err != nil {
			t.Errorf("docs/guides/alerting.md applies %s: %v", m[1], err)
		}
	}
}

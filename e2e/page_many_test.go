//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The size of a large configuration.
const manyGroups, rulesOfGroup, manyCollectors = 100, 50, 500

// openMany starts Vitals with 5,000 rules over 500 files, and opens the page. The directory
// has the files.
func openMany(t *testing.T) (d demo, files string) {
	t.Helper()
	dir := shortDirectory(t, "")
	var config, rules strings.Builder
	fmt.Fprintf(&config, "evaluation_interval: 1s\nrule_files: [%s/rules.yml]\ncollectors:\n", dir)
	for i := range manyCollectors {
		path := filepath.Join(dir, fmt.Sprintf("file%d", i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&config, "  - {name: file%d, interval: 5s, file: {path: %s}}\n", i, path)
	}
	rules.WriteString("groups:\n")
	for g := range manyGroups {
		fmt.Fprintf(&rules, "  - name: group%d\n    rules:\n", g)
		for r := range rulesOfGroup {
			fmt.Fprintf(&rules, "      - {alert: Missing%[1]dOf%[2]d, expr: 'vitals_file_exists{file=\"file%[3]d\"} == 0', for: 10s, labels: {state: ready, team: team%[4]d}, annotations: {summary: The file is missing.}}\n", r, g, (g*rulesOfGroup+r)%manyCollectors, g%7)
		}
	}
	for name, text := range map[string]string{"vitals.yml": config.String(), "rules.yml": rules.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listen := address(t)
	d = demo{daemon: daemon{launch(t, listen, os.Getenv("VITALS_BIN"), "run", "--config.file="+filepath.Join(dir, "vitals.yml"),
		"--web.listen-address="+listen, "--web.unix-socket=", "--web.shutdown-delay=0s", "--log.level=error")}}
	await(t, "the process is ready", 2*time.Minute, func() error { return d.want("/ready", http.StatusOK) })
	d.page = startBrowser(t).open(t, d.url+"/", wide, high)
	d.shows(t, "#states", "ready", "✓ ok", "alive")
	return d, dir
}

// The page of 5,000 rules and 500 collectors. One daemon and one browser serve all parts, because to start them
// on a machine with other work takes minutes. Each part begins with what the one before leaves.
func TestPageOfManyRules(t *testing.T) {
	d, dir := openMany(t)
	t.Run("folded", func(t *testing.T) { d.folded(t, dir) })
	t.Run("light", func(t *testing.T) { d.light(t, dir) })
	t.Run("accessible", func(t *testing.T) {
		d.page.visit(t, d.url+"/")
		d.shows(t, "#rules", "10 failing, 4990 ok", "group99: 50 ok")
		d.page.eval(t, `document.querySelector("#rules .fold").click()`, nil)
		d.shows(t, "#rules", "Missing49Of0")
		d.page.appearances(t, "many", func(t *testing.T) { d.page.audit(t) })
	})
}

// folded checks that 5,000 rules are as many lines as there are groups, and that at rest nothing but ages is
// drawn. It leaves all rules ok.
func (d demo) folded(t *testing.T, dir string) {
	d.shows(t, "#rules", "Rules of ready · 5000 ok", "group0: 50 ok", "group99: 50 ok")
	d.shows(t, "#collectors", "500 collectors succeeded")
	var drawn int
	d.page.eval(t, `(async () => {
		let drawn = 0;
		const watch = new MutationObserver((all) => { for (const one of all) drawn += one.addedNodes.length; });
		watch.observe(document.querySelector("#rules"), { childList: true, subtree: true });
		await new Promise((done) => setTimeout(done, 5000));
		watch.disconnect();
		return drawn;
	})()`, &drawn)
	if drawn > 0 {
		t.Errorf("at rest the page draws %d nodes of rules in 5 s, want none", drawn)
	}
	d.page.picture(t, "many")

	if err := os.Remove(filepath.Join(dir, "file7")); err != nil {
		t.Fatal(err)
	}
	d.shows(t, "#states .soon", "pending, failing in ", "and 8 more")
	d.shows(t, "#rules", "10 pending, 4990 ok", "group0: 49 ok", "Missing7Of0")
	d.shows(t, "#rules", "10 failing, 4990 ok")
	d.page.picture(t, "many-failing")
	d.filtered(t)
	d.silent(t)
	if err := os.WriteFile(filepath.Join(dir, "file7"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.shows(t, "#rules", "Rules of ready · 5000 ok", "group99: 50 ok")
}

// filtered uses the filter, without a mouse.
func (d demo) filtered(t *testing.T) {
	t.Helper()
	d.page.key(t, "/", 191)
	d.page.call(t, "Input.insertText", object{"text": "team:team1 status:failing"}, nil)
	d.shows(t, "#rules", "Rules of ready · 1 failing", "Missing7Of50")
	var hash, focus string
	d.page.eval(t, "location.hash", &hash)
	if hash != "#q=team:team1+status:failing" {
		t.Errorf("the address of the filter is %q", hash)
	}
	d.page.key(t, "ArrowDown", 40)
	d.page.key(t, "Enter", 13)
	d.shows(t, "#rules .explained:not(:empty)", "collector file7")
	d.page.eval(t, "document.activeElement.innerText", &focus)
	if got := strings.Join(strings.Fields(focus), " "); got != "why? Missing7Of50" {
		t.Errorf("the arrow leads to %q, want the rule", got)
	}
	d.page.picture(t, "many-filtered")
	d.fitsTelephone(t, "many-filtered")
	d.page.key(t, "/", 191)
	d.page.key(t, "Escape", 27)
	d.shows(t, "#rules", "10 failing, 4990 ok")
}

//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const operatedRules = `groups:
  - name: g
    rules:
      - {alert: Missing, expr: vitals_file_exists == 0, labels: {state: ready}, annotations: {summary: The file is missing.}}
      - {alert: Slow, expr: vitals_file_exists > 1, labels: {state: ready}}
`

// openOperated starts Vitals with a rule that fails, and opens the page. settings are more of
// the configuration.
func openOperated(t *testing.T, settings string) demo {
	t.Helper()
	dir := shortDirectory(t, "")
	config := fmt.Sprintf("evaluation_interval: 1s\nrule_files: [%[1]s/rules.yml]\n%[2]s\ncollectors:\n  - {name: file, interval: 1s, timeout: 1s, file: {path: %[1]s/missing}}\n", dir, settings)
	for name, text := range map[string]string{"vitals.yml": config, "rules.yml": operatedRules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listen := address(t)
	d := demo{daemon: daemon{launch(t, listen, os.Getenv("VITALS_BIN"), "run", "--config.file="+filepath.Join(dir, "vitals.yml"),
		"--web.listen-address="+listen, "--web.unix-socket=", "--web.shutdown-delay=0s", "--log.level=error")}}
	await(t, "the rule fails", 30*time.Second, func() error { return d.want("/ready", http.StatusServiceUnavailable) })
	d.page = startBrowser(t).open(t, d.url+"/#why=ready", wide, high)
	d.shows(t, "#states", "ready", "✕ failing")
	return d
}

// tabTo presses Tab until the focus is on what a selector finds.
func (p *tab) tabTo(t *testing.T, selector string) {
	t.Helper()
	for range 40 {
		p.key(t, "Tab", 9)
		var there bool
		if p.eval(t, fmt.Sprintf(`document.activeElement.matches(%q)`, selector), &there); there {
			return
		}
	}
	t.Fatalf("Tab does not reach %s", selector)
}

// write types a text where the focus is.
func (p *tab) write(t *testing.T, text string) {
	t.Helper()
	p.call(t, "Input.insertText", object{"text": text}, nil)
}

// focused is what has the focus.
func (p *tab) focused(t *testing.T) (text string) {
	t.Helper()
	p.eval(t, `document.activeElement.tagName + " " + document.activeElement.innerText`, &text)
	return text
}

// The page silences a rule and begins maintenance, by keyboard alone, and shows both with who
// and why until their end.
func TestPageSilences(t *testing.T) {
	t.Parallel()
	d := openOperated(t, `server: {operator_token: open-sesame}`)
	d.page.eval(t, `document.querySelector("#rules button.link").focus()`, nil)
	d.page.key(t, "Enter", 13)
	d.page.tabTo(t, "#rules select")
	d.page.tabTo(t, "#rules [name=reason]")
	d.page.write(t, "an upgrade / of it")
	d.page.key(t, "/", 191)
	d.page.tabTo(t, "#rules [name=token]")
	d.page.write(t, "wrong")
	d.page.key(t, "Enter", 13)
	d.shows(t, "#rules [role=status]", "The server does not accept this token.")
	d.page.picture(t, "silence-form")
	d.page.eval(t, `document.querySelector("#rules [name=token]").select()`, nil)
	d.page.write(t, "open-sesame")
	d.page.tabTo(t, "#rules .operate button")
	d.page.key(t, "Enter", 13)
	d.shows(t, "#rules", "Missingsilenced", "Silenced until ", " by a client at 127.0.0.1: an upgrade / of it", "It has begun.")
	d.shows(t, "#states", "ready why? ready ✓ ok", "Missing silenced until ")
	d.shows(t, "#why", "Missing The file is missing. silenced", "Silenced until ")
	if got := d.page.focused(t); !strings.HasPrefix(got, "BUTTON End the silence") {
		t.Errorf("the focus is on %q, want the button that ends the silence", got)
	}
	d.shows(t, "#history .events", "Missing rule silenced until ")
	d.page.picture(t, "silenced")
	d.fitsTelephone(t, "silenced")
	d.page.key(t, "Enter", 13)
	d.shows(t, "#states", "ready why? ready ✕ failing")

	d.page.eval(t, `document.querySelector("#why select").focus()`, nil)
	d.page.key(t, "Tab", 9)
	d.page.write(t, "new disk")
	d.page.key(t, "Enter", 13)
	d.shows(t, "#states", "ready maintenance why? ready ✕ failing")
	d.shows(t, "#why", "maintenance: new disk (by a client at 127.0.0.1, until it is switched off)", "End the maintenance")
	d.page.picture(t, "maintenance")
	d.page.prefer(t, "prefers-color-scheme", "dark")
	d.page.resize(t, 1920, 1080)
	d.page.picture(t, "maintenance-dark")
	d.page.call(t, "Page.navigate", object{"url": d.url + "/wall"}, nil)
	d.shows(t, "#tiles", "ready ✕ failing maintenance: new disk (by a client at 127.0.0.1, until it is switched off)")
	d.silence(t, "Missing", "open-sesame")
	d.silence(t, "Slow", "open-sesame")
	d.shows(t, "#tiles", "Missing silenced until ", "Slow silenced until ")
	d.fitsTheWall(t)
	d.page.picture(t, "maintenance-wall")
	d.page.call(t, "Page.navigate", object{"url": d.url + "/plain"}, nil)
	d.shows(t, "main", "maintenance: new disk (by a client at 127.0.0.1, until it is switched off)")
	_, complaints := d.page.noted()
	if complaints = slices.DeleteFunc(complaints, tooBusy); len(complaints) != 1 || !strings.Contains(complaints[0], "401") {
		t.Errorf("the browser complains: %q, want the wrong token alone", complaints)
	}
}

// silence silences a rule with the API.
func (d demo) silence(t *testing.T, rule, token string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, d.url+"/api/v1/silences/"+rule, strings.NewReader(`{"for": "2d"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("PUT of a silence = %s, want 200", res.Status)
	}
}

// Where no token is configured, the API is read-only over the network, and so is the page.
func TestPageThatIsReadOnly(t *testing.T) {
	t.Parallel()
	d := openOperated(t, "")
	d.page.eval(t, `document.querySelector("#rules button.link").click()`, nil)
	d.shows(t, "#rules .explained:not(:empty)", "vitals_file_exists")
	var forms int
	if d.page.eval(t, `document.querySelectorAll("form, input:not(#filter), select").length`, &forms); forms != 0 {
		t.Errorf("the page has %d controls, want none", forms)
	}
	d.silent(t)
}

package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
)

// A script that has the secrets of all other collectors shows none of them, wherever they are
// from: the configuration, its variables and files, and the files that collectors read. The same
// holds for the labels of a scraped target and for the reports of components.
func TestSecretsOfOthers(t *testing.T) {
	dir, file := markerConfig(t)
	secrets := map[string]string{}
	secret := func(from string) string {
		secrets[from] = "s3cr3t-of-" + strings.ReplaceAll(from, " ", "-")
		return secrets[from]
	}
	place := func(from string) string { return write(t, dir, strings.ReplaceAll(from, " ", "-"), secret(from)+"\n") }
	t.Setenv("VITALS_TEST_URL_PW", secret("a key in a URL"))
	t.Setenv("VITALS_TEST_TOKEN", secret("a variable in a header"))
	closed := httptest.NewServer(http.NotFoundHandler())
	others := []string{
		"http: {url: '" + closed.URL + "', header_files: {X-Auth-Token: " + place("a header file") + "}, headers: {X-Plain: '${VITALS_TEST_TOKEN}', X-Api-Key: '" + secret("a key in a header") + "'}}",
		"http: {url: '" + closed.URL + "', bearer_token_file: " + place("a token file") + "}",
		"http: {url: '" + closed.URL + "', basic_auth: {username: u, password_file: " + place("a password file") + "}, method: POST, body: '{\"password\": \"" + secret("a body") + "\"}'}",
		"http: {url: '" + closed.URL + "/?api_key=${VITALS_TEST_URL_PW}'}",
		"scrape: {url: '" + closed.URL + "', bearer_token_file: " + place("a file of a scrape") + "}",
		"tcp: {address: '" + closed.Listener.Addr().String() + "', protocol: redis, password: " + secret("a password of redis") + "}",
		"supervisor: {url: '" + closed.URL + "', username: u, password_file: " + place("a file of supervisor") + "}",
		"keystone: {auth_url: '" + closed.URL + "/v3', username: u, password: '${file:" + place("a file in a reference") + "}', project_name: p, user_domain_name: d, project_domain_name: d}",
		"keystone: {cloud: c, clouds_file: " + write(t, dir, "clouds.yaml", "clouds: {c: {auth: {auth_url: '"+closed.URL+"/v3', username: u, password: "+secret("clouds")+", project_name: p, user_domain_name: d, project_domain_name: d}}}\n") + "}",
		"kubernetes: {kubeconfig: " + write(t, dir, "kubeconfig", "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: '"+closed.URL+"'}}], users: [{name: u, user: {token: "+secret("kubeconfig")+"}}]}\n") + "}",
		"script: {command: [/bin/true, --password, " + secret("an argument") + "], environment: {SOME: " + secret("an environment") + "}}",
	}
	token := secret("the token of components")
	all := slices.Sorted(maps.Values(secrets))
	closed.Close()
	printed := write(t, dir, "printed", strings.Join(all, " ")+"\n")
	target := repeatingTarget(all)
	defer target.Close()
	text := "rule_files: [rules.yml]\nserver: {component_token: " + token + "}\ncollectors:\n"
	for i, block := range others {
		text += fmt.Sprintf("  - {name: c%d, interval: 1s, timeout: 1s, %s}\n", i, block)
	}
	text += "  - {name: parts, components: {accept: any}}\n  - {name: target, interval: 200ms, timeout: 200ms, scrape: {url: '" + target.URL + "'}}\n"
	for i := range all { // one each, because a note is short
		text += fmt.Sprintf("  - {name: leak%d, interval: 200ms, timeout: 200ms, script: {command: [/bin/sh, -c, 'printf \"\\342\\200\\256\"; cut -d\" \" -f%d %s; exit 2']}}\n", i, i+1, printed)
	}
	write(t, dir, "rules.yml", secretRules+`
      - alert: Found
        expr: '{__name__=~"found_.+"} == 1'
        labels: {state: ready}
        annotations: {summary: 'found {{ $labels.value }}'}
`)
	write(t, dir, "vitals.yml", text)
	p := runVitals(t, file, "--config.poll-interval=0", "--log.level=debug")
	for i, s := range all {
		if code, text := request(t, overSocket(p.socket), http.MethodPut, fmt.Sprintf("http://vitals/api/v1/components/part%d", i), fmt.Sprintf(`{"ready": false, "reason": %q}`, "it is "+s)); code != http.StatusNoContent {
			t.Fatalf("PUT of a report = %d, %s", code, text)
		}
	}
	ran := func() bool { return allRan(p, len(all)) }
	eventually(t, "every collector to have run", ran)

	seen := map[string]string{}
	look := func(when string) {
		for _, path := range []string{"/config", "/metrics", "/", "/api/v1/status", "/api/v1/alerts", "/api/v1/components", "/api/v1/explain/ready?all=1", "/ready?verbose", "/ready"} {
			_, seen[path+when] = p.get(path)
		}
	}
	look("")
	for _, command := range [][]string{{"once", "ready"}, {"explain", "ready", "--all"}} {
		c := launch(t, append(command, "--config.file="+file, "--log.level=debug")...)
		c.exit()
		seen[command[0]] = c.log.String()
	}
	write(t, dir, "vitals.yml", strings.Replace(text, token, "another-token-of-components", 1))
	p.signal(syscall.SIGHUP)
	eventually(t, "the configuration to be loaded again", func() bool { return strings.Contains(p.log.String(), "configuration loaded") })
	eventually(t, "every collector to have run again", ran)
	look(" after a reload")
	seen["log"] = p.log.String()
	checkSeen(t, seen, secrets)
	if n := strings.Count(seen["/metrics"], `value="x<secret>"`); n != len(all) {
		t.Errorf("/metrics hides %d labels, want %d", n, len(all))
	}
}

// repeatingTarget exports texts in labels and in the help, with invisible characters.
func repeatingTarget(all []string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		for i, s := range all {
			fmt.Fprintf(w, "# HELP found_%d It is %s\u202e.\n# TYPE found_%d gauge\nfound_%d{value=%q,odd=\"a\u202eb\u2028c\"} 1\n", i, s, i, i, "x"+s)
		}
	}))
}

// allRan reports whether every collector has run, and the target was scraped.
func allRan(p *runningVitals, found int) bool {
	for _, c := range p.status().Collectors {
		if !c.Ran {
			return false
		}
	}
	_, text := p.get("/metrics")
	return strings.Count(text, "\nfound_") == found
}

// checkSeen checks that no output has a secret or an invisible character.
func checkSeen(t *testing.T, seen, secrets map[string]string) {
	t.Helper()
	for what, text := range seen {
		for from, secret := range secrets {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s shows %s: %q", what, from, text[max(0, at-100):at+len(secret)])
			}
		}
		for _, odd := range []string{"\u202e", "\u2028"} {
			if at := strings.Index(text, odd); at >= 0 {
				t.Errorf("%s has an invisible character: %q", what, text[max(0, at-100):at])
			}
		}
	}
}

// What a configuration expands does not appear in an error, in whole or in part.
func TestErrorsDoNotQuoteExpandedValues(t *testing.T) {
	mistakes := 0
	values := map[string]string{
		"A_PLAIN": "hidden-value", "A_BRACKET": "(hidden[value/with", "A_URL": "http://u:hid/den:value@h%zz", "A_NUMBER": "77", "A_QUOTE": `hid"den\value`, "A_GLOB": "/hidden[/value",
	}
	for name, value := range values {
		t.Setenv(name, value)
	}
	blocks := plainBlocks(t)
	for f := range reflect.TypeFor[kinds.Kinds]().Fields() {
		kind, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		for name := range values {
			for _, v := range replaced(secretsIn(f.Type, kind), "${"+name+"}") {
				var block map[string]any
				if err := yaml.Unmarshal([]byte(blocks[kind]), &block); err != nil {
					t.Fatal(err)
				}
				over, _ := v.(map[string]any)
				maps.Copy(block, over)
				mistakes += checkErrors(t, map[string]any{"collectors": []any{map[string]any{"name": "c", kind: block}}})
			}
		}
	}
	for name := range values {
		ref := "${" + name + "}"
		for _, v := range replaced(secretsIn(reflect.TypeFor[config.ServerConfig](), ""), ref) {
			mistakes += checkErrors(t, map[string]any{"server": v})
		}
		for _, content := range []map[string]any{
			{"rule_files": []any{ref}}, {"rule_files": []any{"builtin:" + ref}}, {"evaluation_interval": ref}, {"state_label": ref},
			{"states": map[string]any{"ready": map[string]any{"no_data": ref}}}, {"states": map[string]any{"ready": map[string]any{"at_start": ref}}},
			{"collectors": []any{map[string]any{"name": ref}}}, {"collectors": []any{map[string]any{"name": "c", "interval": ref, "timeout": ref}}},
			{"collectors": []any{map[string]any{"name": ref, "disk": map[string]any{}}, map[string]any{"name": ref, "disk": map[string]any{}}}},
		} {
			mistakes += checkErrors(t, content)
		}
	}
	if mistakes < 300 {
		t.Errorf("%d mistakes, want more", mistakes)
	}
}

// replaced returns values with the text in place of each that has the canary.
func replaced(values []any, by string) []any {
	var all []any
	var in func(v any) any
	in = func(v any) any {
		switch v := v.(type) {
		case string:
			if strings.Contains(v, canary) {
				return by
			}
		case []any:
			out := slices.Clone(v)
			for i := range out {
				out[i] = in(out[i])
			}
			return out
		case map[string]any:
			out := map[string]any{}
			for k := range v {
				out[k] = in(v[k])
			}
			return out
		}
		return v
	}
	seen := map[string]bool{}
	for _, v := range values {
		next := in(v)
		if text := fmt.Sprint(next); !seen[text] {
			seen[text] = true
			all = append(all, next)
		}
	}
	return all
}

// checkErrors loads a configuration, checks the texts of its mistakes and returns their number.
func checkErrors(t *testing.T, content map[string]any) int {
	t.Helper()
	data, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	_, errs := config.Load(config.NewSources(), filepath.Join(os.TempDir(), "vitals.yml"), data, nil)
	for _, err := range errs {
		for _, part := range []string{"hidden", "value/", "den:", `den\`, "zz", "[value", `"77"`, " 77:"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s\nhas the mistake %q, which shows %q", data, err, part)
			}
		}
	}
	return len(errs)
}

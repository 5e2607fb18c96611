package alertmanager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/redact"
)

func TestNoAlertmanager(t *testing.T) {
	n, err := New(Options{ExternalURL: "https://vitals.example"}, Env{})
	if n != nil || err != nil {
		t.Fatalf("New() = %v, %v, want nil", n, err)
	}
	n.Run(t.Context(), nil)
	if all := n.Status(); all != nil {
		t.Errorf("Status() of nil = %v, want none", all)
	}
}

// mistake returns the error of options, without secrets as the program prints it.
func mistake(t *testing.T, o Options) string {
	t.Helper()
	secrets := &redact.List{}
	n, err := New(o, Env{Hide: secrets.Add, Clean: secrets.Text})
	if err == nil {
		t.Fatalf("New(%+v) = %+v, want an error", o, n)
	}
	return secrets.Text(err.Error())
}

func TestMistakesAreNamed(t *testing.T) {
	const ok = "http://am:9093"
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "http.yml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		name    string
		options Options
		want    string
	}{
		{"no scheme", Options{URLs: []string{"am:9093"}}, "such as http://alertmanager:9093"},
		{"no scheme, with a password", Options{URLs: []string{"hunter2@am"}}, "such as http://alertmanager:9093"},
		{"another scheme", Options{URLs: []string{"ftp://u:hunter2@am"}}, "such as http://alertmanager:9093"},
		{"no host", Options{URLs: []string{"http://:9093"}}, "no host"},
		{"no URL", Options{URLs: []string{"http://u:hunter2@am:port"}}, "this is no URL"},
		{"the path of the API", Options{URLs: []string{"http://u:hunter2@am:9093/x/api/v2/alerts?token=hunter2"}}, "--alertmanager.url=http://am:9093/x/api/v2/alerts: expected the address of an Alertmanager, such as http://alertmanager:9093, without the path of its API"},
		{"a fragment", Options{URLs: []string{"http://am:9093/#/alerts"}}, "receives no fragment"},
		{"twice", Options{URLs: []string{ok, "http://u:hunter2@am:9093/?token=hunter2"}}, "--alertmanager.url=http://am:9093 is given twice"},
		{"a label without a name", Options{URLs: []string{ok}, ExternalLabels: map[string]string{"": "x"}}, "expected the name and the value of a label, such as cluster=prod"},
		{"a reserved label", Options{URLs: []string{ok}, TargetLabels: map[string]string{"__address__": "x"}}, `--alertmanager.target-label="__address__=x"`},
		{"a label without a value", Options{URLs: []string{ok}, ExternalLabels: map[string]string{"cluster": ""}}, "--alertmanager.external-label=cluster: expected a value in UTF-8, such as cluster=prod"},
		{"the name of the alert", Options{URLs: []string{ok}, ExternalLabels: map[string]string{"alertname": "x"}}, "each alert has this label"},
		{"labels for nothing", Options{ExternalLabels: map[string]string{"cluster": "x"}}, "--alertmanager.external-label: expected an Alertmanager with it: --alertmanager.url="},
		{"target labels for nothing", Options{TargetLabels: map[string]string{"job": "x"}}, "--alertmanager.target-label: expected an Alertmanager"},
		{"credentials for nothing", Options{HTTPConfigFile: "x.yml"}, "--alertmanager.http.config.file: expected an Alertmanager"},
		{"a link that is none", Options{ExternalURL: "vitals.example"}, "--web.external-url: expected the address of the status page"},
		{"a link with a password", Options{URLs: []string{ok}, ExternalURL: "https://u:hunter2@vitals.example"}, "--web.external-url: expected the address of the status page"},
		{"no such file", Options{URLs: []string{ok}, HTTPConfigFile: filepath.Join(t.TempDir(), "x.yml")}, "no such file"},
		{"an unknown key", Options{URLs: []string{ok}, HTTPConfigFile: write("basic_aut: {username: u}\n")}, `http.yml:1: unknown key "basic_aut"`},
		{"a value of another type", Options{URLs: []string{ok}, HTTPConfigFile: write("basic_auth: hunter2\n")}, "yml:1: cannot unmarshal !!str `...`"},
		{"two kinds of credentials", Options{URLs: []string{ok}, HTTPConfigFile: write("bearer_token: hunter2\nbasic_auth: {username: u, password: hunter2}\n")}, "at most one of"},
		{"no such password file", Options{URLs: []string{ok}, HTTPConfigFile: write("basic_auth: {username: u, password_file: none}\n")}, "none: no such file"},
		{"no such authority", Options{URLs: []string{ok}, HTTPConfigFile: write("tls_config: {ca_file: none}\n")}, "none: no such file"},
		{"a file without an end", Options{URLs: []string{ok}, HTTPConfigFile: "/dev/zero"}, "more than 1 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := mistake(t, tt.options)
			if !strings.Contains(got, tt.want) || strings.Contains(got, "hunter2") {
				t.Errorf("error = %s, want %q, without the secret", got, tt.want)
			}
		})
	}
}

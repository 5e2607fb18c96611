package scrape_test

import (
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/scrape"
)

func TestProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"a URL is enough", "url: http://127.0.0.1:9100/metrics", ""},
		{"all keys", `
url: https://node:9100/metrics?x=y
unix_socket: /run/x.sock
keep: [up, 'node_.*']
honor_timestamps: false
follow_redirects: true
body_size_limit: 512KiB
sample_limit: 5
label_limit: 6
label_value_length_limit: 7
basic_auth: {username: u, password_file: /etc/password}
tls: {ca_file: /etc/ca, cert_file: /etc/cert, key_file: /etc/key, server_name: n, insecure_skip_verify: true}`, ""},
		{"no URL", "{}", "url: expected a URL such as http://127.0.0.1:9100/metrics"},
		{"a URL of another kind", "url: ftp://u:secret@h/", "url: expected a URL such as http://127.0.0.1:9100/metrics"},
		{"port beyond", "url: 'http://h:80800/metrics'", "url: port 80800 in the URL: expected 1 to 65535"},
		{"no host", "url: http:///metrics", "url: expected a URL such as http://127.0.0.1:9100/metrics"},
		{"a password in the URL is not repeated", "url: http://u:secret@h/", "url: credentials in the URL: expected them in basic_auth"},
		{"a relative socket", "{url: http://h/, unix_socket: x.sock}", `unix_socket: path "x.sock": expected an absolute path`},
		{"an expression that does not compile", "{url: http://h/, keep: [a, '(']}", "keep[1]: keep \"(\": expected a regular expression: error parsing regexp: missing closing ): `(`"},
		{"no limits", "{url: http://h/, body_size_limit: 0, sample_limit: 0, label_limit: -1, label_value_length_limit: 0}",
			"body_size_limit: body_size_limit 0: expected more than 0\n" +
				"sample_limit: sample_limit 0: expected more than 0\n" +
				"label_limit: label_limit -1: expected more than 0\n" +
				"label_value_length_limit: label_value_length_limit 0: expected more than 0"},
		{"basic auth with nothing in it", "{url: http://h/, basic_auth: {}}",
			"basic_auth.username: no user name: expected one\n" + `basic_auth.password_file: expected the absolute path of a file`},
		{"two ways to authenticate", "{url: http://h/, basic_auth: {username: u, password_file: /p}, bearer_token_file: /t}",
			"bearer_token_file: bearer_token_file beside basic_auth: expected one of them"},
		{"a certificate without its key", "{url: http://h/, tls: {cert_file: /c}}", "tls: cert_file and key_file: expected both or none"},
		{"a relative certificate", "{url: http://h/, tls: {ca_file: ca}}", `tls.ca_file: path "ca": expected an absolute path`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := collectortest.Problems(t, tt.config, &scrape.Config{}), collectortest.Sorted(tt.want); got != want {
				t.Errorf("Problems() = %s, want %s", got, want)
			}
		})
	}
}

func TestExternal(t *testing.T) {
	tests := []struct {
		url, socket string
		want        bool
	}{
		{"http://127.0.0.1:9100/metrics", "", false},
		{"http://127.8.0.1/metrics", "", false},
		{"http://[::1]:9100/metrics", "", false},
		{"http://[::ffff:127.0.0.1]/metrics", "", false},
		{"http://LocalHost:9100/metrics", "", false},
		{"http://0.0.0.0:9100/metrics", "", false},
		{"http://192.0.2.1:9100/metrics", "", true},
		{"http://node.example:9100/metrics", "", true},
		{"http://localhost.example/metrics", "", true},
		{"http://node.example/metrics", "/run/x.sock", false},
	}
	for _, tt := range tests {
		c := &scrape.Config{URL: tt.url, UnixSocket: tt.socket}
		if got := c.External(); got != tt.want || c.Uses() != nil {
			t.Errorf("%s %s: External(), Uses() = %v, %v, want %v, nil", tt.url, tt.socket, got, c.Uses(), tt.want)
		}
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		text, printed string
		want          collectors.Size
	}{
		{"0", "0B", 0},
		{"1", "1B", 1},
		{"1023B", "1023B", 1023},
		{"1KiB", "1KiB", 1024},
		{"1536KiB", "1536KiB", 1536 << 10},
		{"10MiB", "10MiB", 10 << 20},
		{"1024MiB", "1GiB", 1 << 30},
		{"2GiB", "2GiB", 2 << 30},
		{"1kB", "1000B", 1000},
		{"5MB", "5000000B", 5_000_000},
		{"1GB", "1000000000B", 1_000_000_000},
	}
	for _, tt := range tests {
		var got collectors.Size
		if err := yaml.Unmarshal([]byte(tt.text), &got); err != nil || got != tt.want {
			t.Errorf("Unmarshal(%s) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
		if out, err := yaml.Marshal(got); err != nil || string(out) != tt.printed+"\n" {
			t.Errorf("Marshal(%d) = %q, %v, want %s", got, out, err, tt.printed)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5MiB", "1 MiB", "1mib", "1Mi", "1KKiB", "99999999999GiB", "9223372036854775808"} {
		if got, err := collectors.ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestForwards(t *testing.T) {
	honors, both := scrape.Config{HonorVitalsMetrics: true}, scrape.Config{HonorVitalsMetrics: true, HonorLabels: true}
	tests := []struct {
		config scrape.Config
		metric string
		want   bool
	}{
		{scrape.Config{}, "app_up", true},
		{scrape.Config{}, "vitals_component_alive", false},
		{scrape.Config{Keep: []string{"app_.*"}}, "app_up", true},
		{scrape.Config{Keep: []string{"app_.*"}}, "db_up", false},
		{honors, "vitals_component_alive", true},
		{scrape.Config{HonorVitalsMetrics: true, Keep: []string{"app_.*"}}, "vitals_component_alive", false},
		{honors, "vitals_scrape_up", false},
		{both, "vitals_scrape_up", true},
	}
	for _, tt := range tests {
		if got := tt.config.Forwards(tt.metric); got != tt.want {
			t.Errorf("Forwards(%s) of %+v = %t, want %t", tt.metric, tt.config, got, tt.want)
		}
	}
}

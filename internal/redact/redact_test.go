package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/redact"
)

func TestName(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "proxy-authorization": true, "Cookie": true, "Set-Cookie": true, "X-Auth-Token": true, "X-Subject-Token": true,
		"X-API-Key": true, "apikey": true, "api_key": true, "--password": true, "db.passwd": true, "CLIENT_SECRET": true, "credentials": true,
		"auth": true, "sig": true, "X-Amz-Signature": true, "pwd": true, "JSESSIONID": true,
		"password_file": false, "--token-file": false, "secret_path": false, "application_credential_id": false, "application_credential_name": false,
		"User-Agent": false, "author": false, "key": false, "passenger": false, "-p": false, "": false,
	} {
		if got := redact.Name(name); got != want {
			t.Errorf("Name(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, given, want string }{
		{"a URL without secrets", "Get http://h:1/x?a=b: refused", "Get http://h:1/x?a=b: refused"},
		{"user information", `Get "http://u:p/w@h/x": refused`, `Get "http://<secret>@h/x": refused`},
		{"a parameter", `Get "http://h/?a=b&api_key=k%20k&c=d": refused`, `Get "http://h/?a=b&api_key=<secret>&c=d": refused`},
		{"a key in a query", "http://h/?key=AIza&a=b&KEY=x", "http://h/?key=<secret>&a=b&KEY=<secret>"},
		{"a key elsewhere", `{key="x"}`, `{key="x"}`},
		{"an assignment", `argument "--password=a": no`, `argument "--password=<secret>": no`},
		{"a value in quotes", `token="a b&c" x`, `token="<secret>" x`},
		{"a value in escaped quotes", `"{\"token\"=\"a b\", c}"`, `"{\"token\"=\"<secret>\", c}"`},
		{"a quote that is not closed", `token="a b`, `token="<secret>`},
		{"a name of a name", "a=password=x y", "a=password=<secret> y"},
		{"two", "token=a secret=b", "token=<secret> secret=<secret>"},
		{"nothing", "password= token=", "password= token="},
		{"a comparison", "token==a", "token==a"},
		{"a sentence", "get token: context deadline exceeded", "get token: context deadline exceeded"},
		{"both forms at once", "http://u:token=a@h/", "http://<secret>"},
		{"hidden already", "token=<secret>", "token=<secret>"},
	} {
		if got := redact.Text(tt.given); got != tt.want {
			t.Errorf("%s: Text(%q) = %q, want %q", tt.name, tt.given, got, tt.want)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		name, given, want string // elements, separated by bars
		secrets           []string
	}{
		{"nothing secret", "/usr/bin/check|-w|10%|-p|3306|--token-file|/run/token", "/usr/bin/check|-w|10%|-p|3306|--token-file|/run/token", nil},
		{"an option and its value", "check|--password|a b c|-v", "check|--password|<secret>|-v", []string{"a b c"}},
		{"an option with its value", "check|--db-password=hunter two|x", "check|--db-password=<secret>|x", []string{"hunter two"}},
		{"an environment", "env|PGPASSWORD=hunter2|x", "env|PGPASSWORD=<secret>|x", []string{"hunter2"}},
		{"a header", "curl|-H|X-Auth-Token: hunter2hunter2", "curl|-H|X-Auth-Token: <secret>", []string{"hunter2hunter2"}},
		{"a scheme and a token", "Authorization: Bearer hunter2hunter2", "Authorization: <secret>", []string{"Bearer hunter2hunter2", "hunter2hunter2"}},
		{"a user and a password", "curl|-u|me:hunter2", "curl|-u|me:<secret>", []string{"hunter2"}},
		{"a user alone", "curl|-u|me", "curl|-u|me", nil},
		{"a command for a shell", `curl -H 'Cookie: a=b; c=d' --password "a b" -v`, `curl -H 'Cookie: <secret>' --password <secret> -v`, []string{"a=b; c=d", `"a b"`}},
		{"JSON", `{"auth": {"password": "hunter2", "user": "me"}}`, `{"auth": {"password": "<secret>", "user": "me"}}`, []string{"hunter2"}},
		{"a URL", "http://u:hunter2@h/?token=a%20bc", "http://<secret>@h/?token=<secret>", []string{"a%20bc", "a bc", "u:hunter2", "hunter2"}},
		{"a URL behind a scheme of that name", "token://h", "token://h", nil},
		{"short ones", "token=abc", "token=<secret>", nil},
		{"an empty one", "--password||x", "--password||x", nil},
	} {
		list := strings.Split(tt.given, "|")
		if got := strings.Join(redact.Config(list), "|"); got != tt.want {
			t.Errorf("%s: Config(%q) = %q, want %q", tt.name, tt.given, got, tt.want)
		}
		if strings.Join(list, "|") != tt.given {
			t.Errorf("%s: Config changed its argument to %q", tt.name, list)
		}
		got := redact.Secrets(list...)
		slices.Sort(got)
		slices.Sort(tt.secrets)
		if diff := cmp.Diff(tt.secrets, got); diff != "" {
			t.Errorf("%s: Secrets() differs (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestSent(t *testing.T) {
	for given, want := range map[string][]string{
		"":                             nil,
		"QUIT\r\n":                     nil,
		"AMQP\x00\x01\x00\x00":         nil,
		"AUTH two\r\nEHLO a.example":   {"EHLO a.example", "AUTH two"},
		"auth hunter2\r\n":             {"auth hunter2", "hunter2"},
		"a1 LOGIN user hunter2\r\n":    {"a1 LOGIN user hunter2", "user hunter2", "user", "hunter2"},
		"GET /?token=abcd HTTP/1.0":    {"abcd", "GET /?token=abcd HTTP/1.0"},
		"X-Auth-Token: hunter2hunter2": {"hunter2hunter2", "X-Auth-Token: hunter2hunter2"},
	} {
		got := redact.Sent(given)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Sent(%q) differs (-want +got):\n%s", given, diff)
		}
	}
}

func TestValues(t *testing.T) {
	secrets := []string{"", "ab", `abc "d"`}
	for given, want := range map[string]string{
		"x ab x":            "x <secret> x",
		`x abc "d" x`:       "x <secret> x",
		`x "abc \"d\"" x`:   `x "<secret>" x`,
		"x?y=abc+%22d%22&z": "x?y=<secret>&z",
		"x/abc%20%22d%22/z": "x/<secret>/z",
		"nothing to redact": "nothing to redact",
	} {
		if got := redact.Values(given, secrets); got != want {
			t.Errorf("Values(%q) = %q, want %q", given, got, want)
		}
	}
}

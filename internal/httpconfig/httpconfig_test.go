package httpconfig_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vitals-health/vitals/internal/httpconfig"
)

// write writes a file below a directory, and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "secret", "from-a-file\n")
	for given, want := range map[string][]string{
		"": nil, "# nothing\n": nil,
		"basic_auth: {username: u, password: hunter2}":                              {"hunter2"},
		"basic_auth: {username: u, password_file: secret}":                          {"from-a-file"},
		"bearer_token: hunter2":                                                     {"hunter2"},
		"bearer_token_file: secret":                                                 {"from-a-file"},
		"authorization: {credentials: hunter2}":                                     {"hunter2"},
		"authorization: {credentials_file: secret}":                                 {"from-a-file"},
		"oauth2: {client_id: c, client_secret: hunter2, token_url: 'http://x'}":     {"hunter2"},
		"oauth2: {client_id: c, client_secret_file: secret, token_url: 'http://x'}": {"from-a-file"},
		"http_headers: {X-Token: {secrets: [hunter2], files: [secret]}}":            {"hunter2", "from-a-file"},
		"tls_config: {cert: c, key: hunter2}":                                       {"hunter2"},
	} {
		var hidden []string
		if _, err := httpconfig.Load(write(t, dir, "http.yml", given), func(all ...string) { hidden = append(hidden, all...) }); err != nil {
			t.Errorf("Load() of %q = %v, want no error", given, err)
		}
		hidden = slices.DeleteFunc(hidden, func(s string) bool { return s == "" })
		if diff := cmp.Diff(want, hidden, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the hidden secrets of %q differ (-want +got):\n%s", given, diff)
		}
	}
}

// Relative paths begin at the directory of the file, also those that are not read yet.
func TestRelativePaths(t *testing.T) {
	dir := t.TempDir()
	c, err := httpconfig.Load(write(t, dir, "http.yml", "tls_config: {ca_file: ca.pem, cert_file: sub/c.pem, key_file: /k.pem}\n"), func(...string) {})
	got := []string{c.TLSConfig.CAFile, c.TLSConfig.CertFile, c.TLSConfig.KeyFile}
	if diff := cmp.Diff([]string{filepath.Join(dir, "ca.pem"), filepath.Join(dir, "sub/c.pem"), "/k.pem"}, got); err != nil || diff != "" {
		t.Errorf("Load() = %v, the paths differ (-want +got):\n%s", err, diff)
	}
}

// Errors have the file, the line and the key, and no value.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	for given, want := range map[string]string{
		"follow_redirects: true\nbasic_aut: {username: u}\n": `http.yml:2: unknown key "basic_aut"`,
		"a: 1\nb: 2\n":            "http.yml:1: unknown key \"a\"\nhttp.yml:2: unknown key \"b\"",
		"\nbasic_auth: hunter2\n": "http.yml:2: cannot unmarshal !!str `...` into config.plain",
		"basic_auth: {username: u}\nbasic_auth: {username: hunter2}\n":          `http.yml:2: the key "basic_auth" is there twice`,
		"basic_auth: {username: u\n":                                            "http.yml:1: did not find expected ',' or '}'",
		"bearer_token: hunter2\nbasic_auth: {username: u, password: hunter2}\n": "http.yml: at most one of basic_auth, oauth2, bearer_token & bearer_token_file must be configured",
		"proxy_url: 'http://u:hunter2@pr oxy'\n":                                `http.yml: parse "...": invalid character " " in host name`,
		"basic_auth: {username: u, password_file: none}\n":                      "http.yml: open DIR/none: no such file or directory",
		"authorization: {credentials: hunter2, credentials_file: hunter2}\n":    "http.yml: at most one of authorization credentials & credentials_file must be configured",
	} {
		_, err := httpconfig.Load(write(t, dir, "http.yml", given), func(...string) {})
		if err == nil {
			t.Errorf("Load() of %q = nil, want %s", given, want)
			continue
		}
		got := strings.ReplaceAll(strings.ReplaceAll(err.Error(), dir+"/http.yml", "http.yml"), dir, "DIR")
		if got != want {
			t.Errorf("Load() of %q = %s, want %s", given, got, want)
		}
	}
	if _, err := httpconfig.Load("/dev/zero", func(...string) {}); err == nil || err.Error() != "/dev/zero: /dev/zero has more than 1 MiB" {
		t.Errorf("Load() of a file without an end = %v, want its bound", err)
	}
	if _, err := httpconfig.Load(filepath.Join(dir, "none.yml"), func(...string) {}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("Load() of no file = %v, want an error", err)
	}
}

// No file makes the reader fail in another way than with an error.
func FuzzLoad(f *testing.F) {
	f.Add("basic_auth: {username: u, password: hunter2}")
	f.Add("a: 1\nb: [2\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || strings.Contains(text, "file") {
			return // no file of the host
		}
		path := write(t, t.TempDir(), "http.yml", text)
		if _, err := httpconfig.Load(path, func(...string) {}); err != nil && !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("Load() = %v, want the name of the file", err)
		}
	})
}

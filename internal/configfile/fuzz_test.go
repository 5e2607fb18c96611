package configfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLoad reads configurations, with references to the environment. A mistake never
// quotes the value of a variable, and what is shown of a configuration never contains a
// secret of it.
func FuzzLoad(f *testing.F) {
	const secret = "hunter2-hunter2"
	f.Setenv("FUZZ_SECRET", secret)
	files, err := filepath.Glob("../../collectors/*/testdata/example.yml")
	if err != nil || len(files) == 0 {
		f.Fatalf("Glob() = %v, %v, want configurations", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("collectors:\n  - http: {url: 'http://h/', headers: {X-Auth-Token: '${FUZZ_SECRET}'}}\n  - tcp: {address: ${FUZZ_SECRET}}\n"))
	f.Add([]byte("server: {component_token: \"${FUZZ_SECRET}\", failing_status: ${FUZZ_SECRET}}\nstates: {a: {no_data: '$${x} ${'}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("file:")) || bytes.Contains(data, []byte("*/")) { // other files of this host
			return
		}
		if bytes.Contains(data, []byte("builtin:")) { // the shipped rules take most of the time
			return
		}
		l, errs := Load(allKinds(), NewSources(), "testdata/f.yml", data, nil)
		if l == nil || l.Document == nil {
			t.Fatalf("Load() = %v, %v, want a document", l, errs)
		}
		for _, err := range errs {
			if text := err.Error(); text == "" || strings.Contains(text, secret) || len(text) > 4096+len(data) {
				t.Errorf("Load() reports %q, want a bounded text without the value", text)
			}
		}
		if bytes.Contains(l.Redacted, []byte(secret)) {
			t.Errorf("the configuration is shown with the secret:\n%s", l.Redacted)
		}
		if len(errs) > 0 {
			return
		}
		if !utf8.Valid(l.Redacted) {
			t.Errorf("the configuration is shown as %q, want UTF-8", l.Redacted)
		}
		for _, name := range l.Config.StateNames() {
			if stateProblem(name) != "" {
				t.Errorf("state %q is accepted", name)
			}
		}
	})
}

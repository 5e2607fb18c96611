package client

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// answering returns a handler that answers a text, with the header of a daemon or without, and records the requests.
func answering(text string, daemon bool, requests *[]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		if daemon {
			w.Header().Set(generationHeader, "7")
		}
		_, _ = w.Write([]byte(text))
	})
}

// listening serves on a Unix socket, and returns its path.
func listening(t *testing.T, h http.Handler) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(func() { _ = s.Close() })
	return path
}

// Without a daemon on the default socket, a command reads from the socket of the user, and then from the local address if
// Vitals answers there.
func TestReadingWithoutASocket(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	var ofSystem, ofUser, ofVitals, ofOthers []string
	system, user := listening(t, answering("system", true, &ofSystem)), listening(t, answering("user", true, &ofUser))
	vitals, others := httptest.NewServer(answering("local", true, &ofVitals)), httptest.NewServer(answering("nginx", false, &ofOthers))
	defer vitals.Close()
	defer others.Close()
	for _, tt := range []struct {
		name   string
		daemon Daemon
		want   string
	}{
		{"the default socket", Daemon{Socket: system, Others: []string{user}, Local: vitals.URL}, "system"},
		{"the socket of the user", Daemon{Socket: missing, Others: []string{"", user}, Local: vitals.URL}, "user"},
		{"the local address", Daemon{Socket: missing, Others: []string{missing}, Local: vitals.URL}, "local"},
		{"another program there", Daemon{Socket: missing, Local: others.URL}, "there is no socket " + missing + ", and no daemon answers at " + others.URL + ": expected --url=http://HOST:PORT or --socket=PATH"},
		{"nothing there", Daemon{Socket: missing, Local: "http://127.0.0.1:1"}, "there is no socket " + missing + ", and no daemon answers at http://127.0.0.1:1: expected --url=http://HOST:PORT or --socket=PATH"},
		{"a socket that is given", Daemon{Socket: missing}, "there is no socket " + missing},
	} {
		_, body, failed := tt.daemon.Get("api/v1/status", nil, "application/json", 1000, time.Now().Add(time.Minute))
		got := string(body)
		if failed != nil {
			got = failed.Text
		}
		if got != tt.want {
			t.Errorf("%s: Get() = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A change is sent over a socket or to the address that is given, and a token only there.
func TestNothingIsWrittenToTheLocalAddress(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	var ofUser, ofLocal []string
	user, local := listening(t, answering(`{}`, true, &ofUser)), httptest.NewServer(answering(`{}`, true, &ofLocal))
	defer local.Close()
	silence := func(socket string) *execprobe.Result {
		o := Overriding{Daemon: Daemon{Socket: missing, Others: []string{socket}, Local: local.URL}, Name: "Down", Timeout: time.Minute}
		_, failed := o.Run()
		return failed
	}
	if failed := silence(user); failed != nil || strings.Join(ofUser, ";") != "PUT /api/v1/silences/Down " {
		t.Errorf("the daemon of the user got %q, %v, want the silence", ofUser, failed)
	}
	failed := silence("")
	if want := "there is no socket " + missing + ": expected --url=http://HOST:PORT with --token-file=FILE, which has server.operator_token of the daemon, or --socket=PATH"; failed == nil || failed.Outcome != execprobe.NoDaemon || failed.Text != want {
		t.Errorf("a silence without a socket = %+v, want %q", failed, want)
	}
	if len(ofLocal) > 0 {
		t.Errorf("the local address got %q, want nothing", ofLocal)
	}
}

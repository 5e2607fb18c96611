package main

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// originalAnswer is an answer of Kuryr's own health server.
type originalAnswer struct {
	status int
	body   string
}

// hang is the status of a server that accepts the request and does not answer.
const hang = -1

// fakeOriginal is Kuryr's own health server, with the answers of upstream to the letter.
type fakeOriginal struct {
	address      string
	server       *httptest.Server
	alive, ready atomic.Pointer[originalAnswer]
}

func startOriginal(t *testing.T) *fakeOriginal {
	t.Helper()
	o := &fakeOriginal{address: reservedAddress(t)}
	o.alive.Store(&originalAnswer{http.StatusOK, "ok"})
	o.ready.Store(&originalAnswer{http.StatusOK, "ok"})
	o.listen(t)
	t.Cleanup(func() { o.server.Close() })
	return o
}

// listen starts the server, always at the same address.
func (o *fakeOriginal) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", o.address)
	if err != nil {
		t.Fatal(err)
	}
	o.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: o}}
	o.server.Start()
}

// ServeHTTP answers as Flask does: text/html, and a closed connection.
func (o *fakeOriginal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := &originalAnswer{http.StatusNotFound, flaskPage}
	switch r.URL.Path {
	case "/alive":
		answer = o.alive.Load()
	case "/ready":
		answer = o.ready.Load()
	}
	if answer.status == hang {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

// flaskPage is the beginning of a page of Flask for an error.
const flaskPage = "<!doctype html>\n<html lang=en>\n<title>Internal Server Error</title>\n"

// answers makes a path of the original answer so.
func (o *fakeOriginal) answers(path string, status int, body string) step {
	return func(*testing.T, *kuryrLab) func() {
		of := &o.ready
		if path == "alive" {
			of = &o.alive
		}
		of.Store(&originalAnswer{status, body})
		return func() { of.Store(&originalAnswer{http.StatusOK, "ok"}) }
	}
}

// stops makes the original refuse connections.
func (o *fakeOriginal) stops(t *testing.T, _ *kuryrLab) func() {
	o.server.Close()
	return func() { o.listen(t) }
}

const (
	originalDead        = "OriginalDead failing: Kuryr's own health server reports a dead component, or does not answer."
	originalUnreachable = "OriginalUnreachable failing: Kuryr's own health server does not run."
	originalNotReady    = "OriginalNotReady failing: Kuryr's own health server does not report that it is ready."
)

// shows waits until the answer of the original is in the answer of the state's probe: the
// first failed request may be one that was cut when the server closed.
func shows(state, text string) func(*testing.T, *kuryrLab) {
	return func(t *testing.T, l *kuryrLab) {
		t.Helper()
		eventually(t, fmt.Sprintf("GET /%s to have %q", state, text), func() bool {
			return strings.Contains(l.get(t, "/"+state).body, "): "+text+"\n")
		})
	}
}

// originalCases are those of both profiles with --set original. dead are the ids of the
// answers that /alive of the original has, with their bodies.
func originalCases(o *fakeOriginal, fine, silent string, dead, unready [][2]string) []kuryrCase {
	cases := []kuryrCase{
		{id: fine, name: "the original answers ok"},
		{id: silent, name: "the original accepts connections and does not answer",
			given: []step{o.answers("alive", hang, ""), o.answers("ready", hang, "")}, ready: fails(originalNotReady), alive: fails(originalDead),
			check: both(shows("alive", "000: timeout"), shows("ready", "000: timeout"))},
		{id: silent, name: "the original does not listen", given: []step{o.stops}, ready: fails(originalNotReady), alive: fails(originalUnreachable), check: shows("alive", "000: refused")},
		{id: "H05", name: "another server answers 404",
			given: []step{o.answers("alive", http.StatusNotFound, flaskPage), o.answers("ready", http.StatusNotFound, flaskPage)}, ready: fails(originalNotReady)},
		{id: "H10", name: "the original answers with a page for errors", given: []step{o.answers("alive", http.StatusInternalServerError, flaskPage)},
			ready: fails(notAlive), alive: fails(originalDead),
			check: shows("alive", "500 <!doctype html> <html lang=en> <title>Internal Server Error</title>: server_error")},
	}
	for _, d := range dead {
		cases = append(cases, kuryrCase{id: d[0], name: "the original's `/alive` answers 500: " + d[1],
			given: []step{o.answers("alive", http.StatusInternalServerError, d[1])},
			ready: fails(notAlive), alive: fails(originalDead), check: shows("alive", "500 "+d[1]+": server_error")})
	}
	for _, u := range unready {
		status, reason := http.StatusInternalServerError, "server_error"
		if u[0] == "C02" {
			status, reason = http.StatusNotFound, "not_found"
		}
		note := strings.TrimSpace(fmt.Sprintf("%d %s", status, u[1])) + ": " + reason
		cases = append(cases, kuryrCase{id: u[0], name: "the original's `/ready` fails: " + cmp.Or(u[1], "an empty body"),
			given: []step{o.answers("ready", status, u[1])}, ready: fails(originalNotReady), check: shows("ready", note)})
	}
	return cases
}

// kuryrOriginalCases are the answers of the controller's own health server.
func kuryrOriginalCases(o *fakeOriginal) []kuryrCase {
	stands := notReady("leader", "another replica leads")
	standbys := []kuryrCase{
		{id: "C23", name: "a standby's original answers 404", given: []step{stands, o.answers("ready", http.StatusNotFound, "Ports not loaded into the pools.")}},
		{id: "C23", name: "a standby's original answers 500", given: []step{stands, o.answers("ready", http.StatusInternalServerError, "")}, ready: fails(originalNotReady)},
	}
	return append(standbys, originalCases(o, "C09", "C10",
		[][2]string{{"C18", "Component Watcher is dead."}, {"C19", "Component KuryrPortHandler is dead. Last caught exception below"}},
		[][2]string{
			{"C02", "Ports not loaded into the pools."}, {"C03", "Error when processing k8s healthz request."},
			{"C04", "Error when creating a Keystone session and getting a token: The request you have made requires authentication."},
			{"C05", "Error when processing neutron request HttpException: 500"}, {"C06", ""},
		})...)
}

// cniOriginalCases are the answers of the CNI daemon's own health server.
func cniOriginalCases(o *fakeOriginal) []kuryrCase {
	return originalCases(o, "N04", "N06",
		[][2]string{{"N05", "Kuryr CNI components not healthy."}, {"N06", "IPDB not in working order."}, {"N07", "CNI daemon exceeded maximum memory usage."}},
		[][2]string{{"N02", "NET_ADMIN capabilities not present."}, {"N03", "K8s API healtz endpoint failed."}})
}

func TestKuryrOriginal(t *testing.T) {
	t.Parallel()
	o := startOriginal(t)
	startKuryrLab(t, labOptions{set: map[string]string{"original": "http://" + o.address}}).runCases(t, kuryrOriginalCases(o))
}

func TestCNIOriginal(t *testing.T) {
	t.Parallel()
	o := startOriginal(t)
	startCNILab(t, labOptions{set: map[string]string{"original": "http://" + o.address}}).runCases(t, cniOriginalCases(o))
}

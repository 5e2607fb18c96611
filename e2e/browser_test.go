//go:build e2e

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// answersWithin is how long the browser may take for one command.
const answersWithin = time.Minute

// browser is Chromium without a window. It is controlled by the DevTools protocol over two pipes:
// JSON objects, each with a NUL byte behind it
// (https://chromedevtools.github.io/devtools-protocol/, --remote-debugging-pipe).
type browser struct {
	commands io.Writer

	mu      sync.Mutex // guards what follows
	sent    int
	answers map[int]chan message
	tabs    map[string]*tab
}

// message is a command, an answer or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// startBrowser starts Chromium, which ends with the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	toBrowser, commands := pipe(t)
	events, fromBrowser := pipe(t)
	cmd := exec.Command("chromium", "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
		"--user-data-dir="+shortDirectory(t, ""), "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4, as the protocol has it
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install it with e2e/install.sh browser", err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	b := &browser{commands: commands, answers: map[int]chan message{}, tabs: map[string]*tab{}}
	var reading sync.WaitGroup
	reading.Go(func() { b.read(events) })
	t.Cleanup(func() {
		commands.Close() // at which Chromium leaves
		kill := time.AfterFunc(answersWithin, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		reading.Wait()
		if err != nil {
			t.Errorf("chromium: %v, want it to exit on its own:\n%s", err, output.String())
		}
	})
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

// read delivers the messages of the browser until it ends.
func (b *browser) read(events io.Reader) {
	in := bufio.NewReader(events)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if answer := b.answers[m.ID]; m.ID != 0 && answer != nil {
			answer <- m
			delete(b.answers, m.ID)
		} else if tab := b.tabs[m.Session]; tab != nil {
			tab.noteLocked(m)
		}
		b.mu.Unlock()
	}
}

// object is a JSON object.
type object = map[string]any

// call sends a command to a session, "" for the browser itself, and reads the answer
// into result unless that is nil.
func (b *browser) call(t *testing.T, session, method string, params object, result any) {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.sent++
	m := message{ID: b.sent, Session: session, Method: method, Params: text}
	b.answers[m.ID] = answer
	b.mu.Unlock()
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if _, err := b.commands.Write(append(text, 0)); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			t.Fatalf("%s: %s", method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				t.Fatalf("%s: %v in %s", method, err, m.Result)
			}
		}
	case <-time.After(answersWithin):
		t.Fatalf("%s: no answer within %s", method, answersWithin)
	}
}

// tab is one page of the browser.
type tab struct {
	browser *browser
	session string

	// Guarded by the browser's mu.
	requests   []string
	complaints []string
}

// open opens a tab of the size, in pixels, and in it an address.
func (b *browser) open(t *testing.T, url string, width, height int) *tab {
	t.Helper()
	var target struct{ TargetID string }
	b.call(t, "", "Target.createTarget", object{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call(t, "", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &tab{browser: b, session: attached.SessionID}
	b.mu.Lock()
	b.tabs[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.call(t, domain+".enable", nil, nil)
	}
	p.resize(t, width, height)
	p.call(t, "Page.navigate", object{"url": url}, nil)
	return p
}

func (p *tab) call(t *testing.T, method string, params object, result any) {
	t.Helper()
	p.browser.call(t, p.session, method, params, result)
}

// resize makes the tab as large, in pixels.
func (p *tab) resize(t *testing.T, width, height int) {
	t.Helper()
	p.call(t, "Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// prefer sets a media feature such as prefers-color-scheme.
func (p *tab) prefer(t *testing.T, feature, value string) {
	t.Helper()
	p.call(t, "Emulation.setEmulatedMedia", object{"features": []object{{"name": feature, "value": value}}}, nil)
}

// eval runs a JavaScript expression in the page and reads its value into result.
func (p *tab) eval(t *testing.T, expression string, result any) {
	t.Helper()
	p.evaluate(t, object{"expression": expression}, result)
}

// evaluate runs an expression with options of Runtime.evaluate.
func (p *tab) evaluate(t *testing.T, options object, result any) {
	t.Helper()
	options["returnByValue"], options["awaitPromise"] = true, true
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	p.call(t, "Runtime.evaluate", options, &answer)
	if answer.ExceptionDetails != nil {
		t.Fatalf("%.500s: %s", options["expression"], answer.ExceptionDetails)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer.Result.Value, result); err != nil {
		t.Fatalf("%.500s = %s: %v", options["expression"], answer.Result.Value, err)
	}
}

// text is what the elements that a selector finds show, in one line.
func (p *tab) text(t *testing.T, selector string) string {
	t.Helper()
	var text string
	p.eval(t, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.innerText).join(" ")`, selector), &text)
	return strings.Join(strings.Fields(text), " ")
}

// key presses a key.
func (p *tab) key(t *testing.T, key string, code int) {
	t.Helper()
	text := ""
	if key == "Enter" {
		text = "\r" // at which a button is pressed
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		p.call(t, "Input.dispatchKeyEvent", object{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}, nil)
	}
}

// noteLocked keeps what tests check: requests, and the errors of the page and the browser.
func (p *tab) noteLocked(m message) {
	var e struct {
		Type    string
		Request struct{ URL string }
		Entry   struct{ Level, Text, URL string }
		Args    json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &e) // of other events, nothing is wanted
	switch {
	case m.Method == "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.URL)
	case m.Method == "Runtime.exceptionThrown":
		p.complaints = append(p.complaints, string(m.Params))
	case m.Method == "Runtime.consoleAPICalled" && e.Type != "log" && e.Type != "debug":
		p.complaints = append(p.complaints, e.Type+": "+string(e.Args))
	case m.Method == "Log.entryAdded" && e.Entry.Level != "verbose" && e.Entry.Level != "info":
		p.complaints = append(p.complaints, e.Entry.Level+": "+e.Entry.Text+" "+e.Entry.URL)
	}
}

// noted are the requests and the complaints so far.
func (p *tab) noted() (requests, complaints []string) {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return append([]string(nil), p.requests...), append([]string(nil), p.complaints...)
}

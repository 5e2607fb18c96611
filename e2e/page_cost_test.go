//go:build e2e

package e2e_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// views is how often each page is opened: the fastest of them counts, as noise only adds.
	views = 4
	// slower is how much longer than the bare page the first view may take.
	slower = 3
	// A second at rest costs less than the browser takes to parse the whole status restingParses times, and
	// at most restingBytes. A page that draws all rules again each second costs 70 of them.
	restingParses = 25
	restingBytes  = 10_000
	// changedShare is the largest share of a whole status in one answer: that of all collectors, of which
	// each collection is a change, is 6 %.
	changedShare = 0.1
)

// firstView notes when a page has drawn the states and the last group of rules.
const firstView = `new MutationObserver((_, observer) => {
	if (!document.querySelector("#states article") || !document.querySelector("#rules .fold:last-of-type")) return;
	observer.disconnect();
	requestAnimationFrame(() => setTimeout(() => { window.viewed = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`

// bare is a page with the same bytes and the same elements, which a server has ready and which computes
// nothing: the least that a page of this size costs in this browser, on this machine, at this time.
func (d demo) bare(t *testing.T) *httptest.Server {
	t.Helper()
	files := map[string][]byte{
		"/": []byte(`<!doctype html><html lang="en"><head><meta charset="utf-8"><link rel="stylesheet" href="page.css"><script type="module" src="bare.js"></script></head><body></body></html>`),
		"/bare.js": []byte(`const [, , body] = await Promise.all([fetch("status").then((r) => r.json()), fetch("scripts").then((r) => r.text()), fetch("body").then((r) => r.text())]);
			document.body.innerHTML = body;`),
	}
	read := func(path string) []byte {
		_, body, err := d.get(path)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(body)
	}
	files["/page.css"], files["/status"] = read("/assets/page.css"), read("/api/v1/status?changes=")
	requests, _ := d.page.noted()
	for _, url := range requests {
		if strings.HasSuffix(url, ".js") {
			files["/scripts"] = append(files["/scripts"], read(strings.TrimPrefix(url, d.url))...)
		}
	}
	var body string
	d.page.eval(t, `document.body.innerHTML`, &body)
	files["/body"] = []byte(body)
	kinds := map[string]string{".css": "text/css", ".js": "text/javascript", "": "text/html; charset=utf-8"}
	packed := map[string][]byte{}
	for path, plain := range files {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(plain); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		packed[path] = b.Bytes()
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", kinds[filepath.Ext(r.URL.Path)])
		_, _ = w.Write(packed[r.URL.Path]) // an error is one of the browser
	}))
	t.Cleanup(server.Close)
	t.Logf("the bare page has %d bytes of elements, %d of scripts, %d of a status", len(body), len(files["/scripts"]), len(files["/status"]))
	return server
}

// viewed opens a page without the browser's cache, and returns after how many milliseconds it was drawn.
func (p *tab) viewed(t *testing.T, url string) (after float64) {
	t.Helper()
	p.visit(t, url)
	await(t, "the first view", time.Minute, func() error {
		if p.eval(t, `window.viewed ?? 0`, &after); after == 0 {
			return fmt.Errorf("%s is not drawn yet", url)
		}
		return nil
	})
	return after
}

// processor is the time in seconds that the processes of a kind have had, by /proc.
func (b *browser) processor(t *testing.T, kind string) (seconds float64) {
	t.Helper()
	var answer struct {
		ProcessInfo []struct {
			Type string
			ID   int
		}
	}
	b.call(t, "", "SystemInfo.getProcessInfo", nil, &answer)
	found := 0
	for _, p := range answer.ProcessInfo {
		if kind != "" && p.Type != kind {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.ID))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		var user, system float64
		if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
			t.Fatal(err)
		}
		found++
		seconds += (user + system) / 100 // USER_HZ, which is 100 on every architecture of Debian
	}
	if found == 0 {
		t.Fatalf("the browser has no process %q: %v", kind, answer.ProcessInfo)
	}
	return seconds
}

// light checks that 5,000 rules and 500 collectors are drawn at once and then cost next to nothing: what did not
// change is neither sent nor drawn. It leaves ten rules failing.
func (d demo) light(t *testing.T, dir string) {
	d.shows(t, "#collectors", "500 collectors succeeded")
	bare := d.bare(t)
	d.page.call(t, "Page.addScriptToEvaluateOnNewDocument", object{"source": firstView}, nil)
	d.page.call(t, "Network.setCacheDisabled", object{"cacheDisabled": true}, nil)
	own, least := math.Inf(1), math.Inf(1)
	for range views {
		least = min(least, d.page.viewed(t, bare.URL+"/"))
		own = min(own, d.page.viewed(t, d.url+"/"))
	}
	t.Logf("first view of 5,000 rules and 500 collectors after %.0f ms, a bare page of the same size %.0f ms", own, least)
	if own > slower*least {
		t.Errorf("the first view takes %.0f ms, %.1f times that of a bare page of the same size, want at most %d times", own, own/least, slower)
	}
	d.rests(t)
	d.changes(t, dir)
}

// rests measures the page at rest, at most four times: noise only adds. Its unit is the time in which the same
// browser parses the whole status, because a share of a core depends on the machine.
func (d demo) rests(t *testing.T) {
	t.Helper()
	const window = 15 * time.Second
	var parse, share, bytes float64
	d.page.eval(t, `(async () => {
		const text = await (await fetch("api/v1/status")).text();
		const times = [];
		for (let i = 0; i < 10; i++) {
			const begin = performance.now();
			JSON.parse(text);
			times.push(performance.now() - begin);
		}
		return Math.min(...times) / 1000;
	})()`, &parse)
	most := restingParses * parse
	for range 4 {
		page, all := d.page.browser.processor(t, "renderer"), d.page.browser.processor(t, "")
		start := time.Now()
		d.page.eval(t, fmt.Sprintf(`(async () => {
			performance.clearResourceTimings();
			await new Promise((done) => setTimeout(done, %d));
			return performance.getEntriesByType("resource").reduce((sum, e) => sum + e.encodedBodySize, 0);
		})()`, window.Milliseconds()), &bytes)
		took := time.Since(start).Seconds()
		share, bytes = (d.page.browser.processor(t, "renderer")-page)/took, bytes/took
		t.Logf("at rest the page takes %.1f %% of a core, at most %.1f, all of Chromium %.1f %%, and %.0f bytes a second", 100*share, 100*most, 100*(d.page.browser.processor(t, "")-all)/took, bytes)
		if share < most && bytes < restingBytes {
			return
		}
	}
	t.Errorf("at rest the page takes %.1f %% of a core and %.0f bytes a second, want less than %.1f %% and %d", 100*share, bytes, 100*most, restingBytes)
}

// changes measures what is sent and drawn when ten rules change twice.
func (d demo) changes(t *testing.T, dir string) {
	t.Helper()
	var whole int
	_, status, err := d.get("/api/v1/status?changes=")
	if whole = len(status); err != nil || whole < 1_000_000 {
		t.Fatalf("a whole status has %d bytes, %v, want 5,000 rules", whole, err)
	}
	d.page.eval(t, `{
		const original = window.fetch;
		Object.assign(window, { drawn: 0, answers: [], fetch: async (...request) => {
			const answer = await original(...request);
			if (String(request[0]).includes("changes=")) answer.clone().text().then((text) => answers.push({ Bytes: text.length, Rules: JSON.parse(text).rules.length }));
			return answer;
		} });
		new MutationObserver((all) => { for (const one of all) drawn += one.addedNodes.length; }).observe(document.querySelector("#rules"), { childList: true, subtree: true });
	}`, nil)
	if err := os.Remove(filepath.Join(dir, "file7")); err != nil {
		t.Fatal(err)
	}
	d.shows(t, "#rules", "10 pending, 4990 ok")
	d.shows(t, "#rules", "10 failing, 4990 ok")
	d.evaluations(t, 1)
	var answers []struct{ Bytes, Rules int }
	var drawn int
	d.page.eval(t, `answers`, &answers)
	d.page.eval(t, `drawn`, &drawn)
	largest, changed := 0, 0
	for _, a := range answers {
		largest = max(largest, a.Bytes)
		changed += a.Rules
		if a.Rules > 10 {
			t.Errorf("an answer has %d rules, want those that changed, which are 10", a.Rules)
		}
	}
	t.Logf("of a status of %d bytes, %d answers had at most %d, and together %d rules; %d nodes of rules were drawn", whole, len(answers), largest, changed, drawn)
	if changed < 20 || float64(largest) > changedShare*float64(whole) || drawn > 2000 {
		t.Errorf("ten rules that change twice are sent %d times, with up to %d bytes of %d, and draw %d nodes; want at most %.0f %% and 2000", changed, largest, whole, drawn, 100*changedShare)
	}
}

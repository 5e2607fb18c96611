package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// raw sends one request as bytes over a new connection and returns the code
// and the body of the answer.
func raw(t *testing.T, network, address, text string) (int, string) {
	t.Helper()
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestReportsComeThroughTheRightDoor reports over the Unix socket, as curl
// --unix-socket does, and over TCP.
func TestReportsComeThroughTheRightDoor(t *testing.T) {
	dir, config := markerConfig(t)
	const components = "  - {name: parts, components: {expect: [watcher]}}\n"
	put := func(name, header, body string) string {
		return fmt.Sprintf("PUT /api/v1/components/%s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n%sContent-Length: %d\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n%s", name, header, len(body), body)
	}
	write(t, dir, "vitals.yml", markers+components)
	p := runVitals(t, config, "--config.poll-interval=0")
	p.waitReady()
	tcp := strings.TrimPrefix(p.url, "http://")
	tests := []struct {
		name, network, address, request string
		code                            int
		answer                          string
	}{
		{"the socket takes a report", "unix", p.socket, put("watcher", "", `{"ready": true}`), 204, ""},
		{"the socket answers probes", "unix", p.socket, "GET /ready HTTP/1.0\r\n\r\n", 200, "ok"},
		{"a name that is not expected", "unix", p.socket, put("stranger", "", `{"ready": true}`), 404, "expected one of watcher"},
		{"a name that cannot be one", "unix", p.socket, put("a%20b", "", `{"ready": true}`), 400, "invalid name of a component"},
		{"a name with a line feed", "unix", p.socket, put("a%0ab", "", `{"ready": true}`), 400, "invalid name of a component"},
		{"a body that is no report", "unix", p.socket, put("watcher", "", "\x00\xff"), 400, "read report: invalid character"},
		{"a body of 10 MB", "unix", p.socket, strings.Replace(put("watcher", "", ""), "Content-Length: 0", "Content-Length: 10000000", 1), 413, "longer than 4096 bytes"},
		{"a wrong method", "unix", p.socket, "DELETE /api/v1/components/watcher HTTP/1.1\r\nHost: x\r\n\r\n", 405, "use PUT"},
		{"no HTTP", "unix", p.socket, "garbage\r\n\r\n", 400, ""},
		{"TCP without a token configured", "tcp", tcp, put("watcher", "", `{"ready": false}`), 403, "Unix socket only"},
		{"a wrong method of a probe", "tcp", tcp, "POST /ready HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 405, "use GET or HEAD"},
		{"a rule that does not exist", "tcp", tcp, "GET /ready/Missing HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no rule of this name"},
		{"a path that does not exist", "tcp", tcp, "GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 404, "there is nothing at this path"},
	}
	for _, tt := range tests {
		if code, body := raw(t, tt.network, tt.address, tt.request); code != tt.code || !strings.Contains(body, tt.answer) {
			t.Errorf("%s: %d %q, want %d %q", tt.name, code, body, tt.code, tt.answer)
		}
	}
	eventually(t, "the report in /metrics", func() bool { return p.metric(`vitals_component_ready{component="watcher"} 1`) })
	if !p.metric(`vitals_component_reports_total{component="watcher"} 1`) {
		t.Error("refused reports were counted as taken")
	}
}

func TestReportsOverTCPWithTheToken(t *testing.T) {
	dir, config := markerConfig(t)
	secret := write(t, dir, "token", "s3cr3t-word\n")
	write(t, dir, "vitals.yml", markers+"  - {name: parts, components: {accept: any}}\nserver: {component_token: \"${file:"+secret+"}\"}\n")
	p := runVitals(t, config)
	p.waitReady()
	for header, want := range map[string]int{"": 401, "Bearer wrong": 401, "Basic s3cr3t-word": 401, "Bearer s3cr3t-word": 204} {
		code, body := request(t, http.DefaultTransport, http.MethodPut, p.url+"/api/v1/components/watcher", `{"alive": true, "ready": true}`, "Authorization", header)
		if code != want || strings.Contains(body, "s3cr3t") {
			t.Errorf("PUT with %q = %d %q, want %d", header, code, body, want)
		}
	}
	eventually(t, "the report in /metrics", func() bool { return p.metric(`vitals_component_ready{component="watcher"} 1`) })
	if _, body := p.get("/config"); strings.Contains(body+p.log.String(), "s3cr3t") {
		t.Errorf("/config = %q, log %q, want no token", body, p.log)
	}
}

// TestTokensOverTCP checks that components do not silence rules, and operators do. A reload
// replaces the token of operators.
func TestTokensOverTCP(t *testing.T) {
	dir, config := markerConfig(t)
	text := markers + "  - {name: parts, components: {accept: any}}\nserver: {component_token: s3cr3t-part, operator_token: s3cr3t-operator}\n"
	write(t, dir, "vitals.yml", text)
	p := runVitals(t, config, "--web.enable-lifecycle")
	p.waitReady()
	put := func(path, token string) int {
		body := map[bool]string{true: `{"ready": true}`, false: `{"for": "1h"}`}[strings.Contains(path, "components")]
		code, _ := request(t, http.DefaultTransport, http.MethodPut, p.url+path, body, "Authorization", "Bearer "+token)
		return code
	}
	const part, silence, maintenance = "/api/v1/components/watcher", "/api/v1/silences/Dead", "/api/v1/maintenance/ready"
	for _, path := range []string{silence, maintenance} {
		if got := put(path, "s3cr3t-part"); got != 401 {
			t.Errorf("PUT %s with the token of components = %d, want 401", path, got)
		}
	}
	if got := []int{put(part, "s3cr3t-part"), put(part, "s3cr3t-operator"), put(silence, "s3cr3t-operator"), put(maintenance, "s3cr3t-operator")}; !slices.Equal(got, []int{204, 401, 200, 200}) {
		t.Errorf("answers = %v, want that each token has its own requests", got)
	}
	write(t, dir, "vitals.yml", strings.Replace(text, "operator_token: s3cr3t-operator", "operator_token: s3cr3t-other", 1))
	if code, body := request(t, http.DefaultTransport, http.MethodPost, p.url+"/-/reload", ""); code != 200 {
		t.Fatalf("reload = %d %s, want 200", code, body)
	}
	if got := []int{put(silence, "s3cr3t-operator"), put(silence, "s3cr3t-other")}; !slices.Equal(got, []int{401, 200}) {
		t.Errorf("answers after the reload = %v, want 401 for the previous token and 200 for the new one", got)
	}
	var out, errs strings.Builder
	if code := run([]string{"maintenance", "off", "--url=" + p.url, "--token-file=" + write(t, dir, "token", "s3cr3t-other\n")}, &out, &errs); code != exitOK {
		t.Errorf("vitals maintenance off = %d %s, want 0", code, &errs)
	}
	if _, body := p.get("/config"); strings.Contains(body+p.log.String(), "s3cr3t") {
		t.Errorf("/config = %q, log %q, want no token", body, p.log)
	}
}

// TestProbesHaveTheirOwnListener checks probes next to a listener with a password.
func TestProbesHaveTheirOwnListener(t *testing.T) {
	dir, config := markerConfig(t)
	// The hash is bcrypt's of the password "test", with the least cost.
	web := write(t, dir, "web.yml", "basic_auth_users: {probe: $2a$04$7b1fWjlDcsAtoR2bqsdmv.t9KQcyyER5rXRkeOWQgHQprQ/bq8zEu}\n")
	p := runVitals(t, config, "--web.config.file="+web, "--probe.listen-address=127.0.0.1:0")
	get := func(base, path string, headers ...string) int {
		code, _ := request(t, http.DefaultTransport, http.MethodGet, base+path, "", headers...)
		return code
	}
	eventually(t, "ready on the probe listener", func() bool { return get(p.probes, "/ready") == 200 })
	for path, want := range map[string]int{
		"/ready": 200, "/alive": 200, "/started": 200, "/readyz": 200, "/livez": 200, "/healthz": 200, "/ready/Bad": 200, "/ready?verbose": 200, "/-/healthy": 200, "/-/ready": 200,
		"/": 404, "/metrics": 404, "/metrics/slis": 404, "/config": 404, "/api/v1/status": 404, "/api/v1/explain/ready": 404, "/api/v1/components/x": 404, "/-/reload": 404,
	} {
		if got := get(p.probes, path); got != want {
			t.Errorf("probe listener: %s = %d, want %d", path, got, want)
		}
		if got := get(p.url, path); got != 401 {
			t.Errorf("%s without a password = %d, want 401", path, got)
		}
		if got, _ := request(t, overSocket(p.socket), http.MethodGet, "http://vitals"+path, ""); got == 401 {
			t.Errorf("Unix socket: %s = 401, want no password required", path)
		}
	}
	for _, path := range []string{"/", "/metrics", "/ready", "/config", "/api/v1/explain/ready"} {
		if got := get(p.url, path, "Authorization", "Basic cHJvYmU6dGVzdA=="); got != 200 {
			t.Errorf("%s with the password = %d, want 200", path, got)
		}
		if got := get(p.url, path, "Authorization", "Basic cHJvYmU6d3Jvbmc="); got != 401 {
			t.Errorf("%s with a wrong password = %d, want 401", path, got)
		}
	}
}

// streams returns how many streams of HTTP/2 a listener offers.
func streams(t *testing.T, door [2]string) uint32 {
	t.Helper()
	conn, err := net.Dial(door[0], door[1])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	f := http2.NewFramer(conn, conn)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	frame, err := f.ReadFrame()
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("the first frame is %v, %v, want settings", frame, err)
	}
	n, _ := settings.Value(http2.SettingMaxConcurrentStreams)
	return n
}

// TestEveryDoorHasTheLimits sends the beginning of a request through each of the
// listeners of the real program: all end it, which shows that their servers have
// the limits that internal/server tests. That the number of idle connections is
// bounded is one of them; the rest of the test opens more than are allowed.
func TestEveryDoorHasTheLimits(t *testing.T) {
	t.Parallel()
	_, config := markerConfig(t)
	p := runVitals(t, config, "--probe.listen-address=127.0.0.1:0")
	p.waitReady()
	doors := map[string][2]string{
		"web":    {"tcp", strings.TrimPrefix(p.url, "http://")},
		"probes": {"tcp", strings.TrimPrefix(p.probes, "http://")},
		"socket": {"unix", p.socket},
	}
	for name, want := range map[string]uint32{"web": 8, "probes": 4, "socket": 8} {
		if got := streams(t, doors[name]); got != want {
			t.Errorf("%s: %d streams of HTTP/2 at a time, want %d", name, got, want)
		}
	}
	slow := map[string]net.Conn{}
	for name, door := range doors {
		conn, err := net.Dial(door[0], door[1])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /ready HTTP/1.1\r\nHost: x\r\n"); err != nil {
			t.Fatal(err)
		}
		slow[name] = conn
	}
	const most = 30 * time.Second
	begin := time.Now()
	for name, conn := range slow {
		if err := conn.SetReadDeadline(begin.Add(most)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); os.IsTimeout(err) {
			t.Errorf("%s: a slow client is kept for longer than %s, want 5s", name, most)
		}
	}
	for name, door := range doors {
		idle := make([]net.Conn, 600)
		for i := range idle {
			conn, err := net.Dial(door[0], door[1])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			idle[i] = conn
		}
		if code, body := raw(t, door[0], door[1], "GET /ready HTTP/1.0\r\n\r\n"); code != 200 {
			t.Errorf("%s: /ready beside 600 idle connections = %d %q, want 200", name, code, body)
		}
		if err := idle[0].SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := idle[0].Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("%s: the first of 600 idle connections = %v, want it closed: 512 may wait", name, err)
		}
	}
}

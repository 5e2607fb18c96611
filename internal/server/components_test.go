package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/server"
)

// reporting is a server that keeps the reports it takes.
func reporting(token string) (*server.Server, map[string]collectors.Report) {
	taken := map[string]collectors.Report{}
	o := fixed(healthy())
	o.ReportToken = func() string { return token }
	o.Report = func(name string, r collectors.Report) error {
		switch name {
		case "stranger":
			return fmt.Errorf("component %q: %w", name, collectors.ErrUnknownComponent)
		case "invalid":
			return fmt.Errorf("component %q: %w: neither alive nor ready", name, collectors.ErrInvalidReport)
		case "broken":
			return errors.New("disk full\nand more")
		}
		taken[name] = r
		return nil
	}
	return server.New(o), taken
}

func TestReports(t *testing.T) {
	yes, no := true, false
	tests := []struct {
		name, component, body string
		code                  int
		answer                string
		want                  *collectors.Report
	}{
		{"all of it", "watcher", `{"alive": true, "ready": false, "reason": "resync"}`, 204, "", &collectors.Report{Alive: &yes, Ready: &no, Reason: "resync"}},
		{"a part", "pod-watcher.0", ` {"alive": false} `, 204, "", &collectors.Report{Alive: &no}},
		{"events", "watcher", `{"events": [{"event": "cni_add", "result": "failure", "error": "netlink"}, {"event": "cni_add", "result": "success"}]}`, 204, "",
			&collectors.Report{Events: []collectors.Event{{Event: "cni_add", Result: "failure", Error: "netlink"}, {Event: "cni_add", Result: "success"}}}},
		{"an unknown field of an event", "watcher", `{"events": [{"name": "cni_add"}]}`, 400, "read report: json: unknown field \"name\": expected JSON such as {\"alive\": true, \"ready\": false, \"reason\": \"...\"}\n", nil},
		{"nothing", "watcher", `{}`, 204, "", &collectors.Report{}},
		{"an unknown component", "stranger", `{"alive": true}`, 404, "component \"stranger\": unknown component: no components collector expects stranger\n", nil},
		{"refused by the collector", "invalid", `{}`, 400, "component \"invalid\": invalid report: neither alive nor ready\n", nil},
		{"the collector fails", "broken", `{}`, 500, "disk full and more\n", nil},
		{"an unknown field", "watcher", `{"alife": true}`, 400, "read report: json: unknown field \"alife\": expected JSON such as {\"alive\": true, \"ready\": false, \"reason\": \"...\"}\n", nil},
		{"a wrong type", "watcher", `{"alive": "yes"}`, 400, "read report: json: cannot unmarshal string into Go struct field report.alive of type bool: expected JSON such as {\"alive\": true, \"ready\": false, \"reason\": \"...\"}\n", nil},
		{"no JSON", "watcher", `alive=1`, 400, "read report: invalid character 'a' looking for beginning of value: expected JSON such as {\"alive\": true, \"ready\": false, \"reason\": \"...\"}\n", nil},
		{"an empty body", "watcher", ``, 400, "read report: EOF: expected JSON such as {\"alive\": true, \"ready\": false, \"reason\": \"...\"}\n", nil},
		{"two objects", "watcher", `{}{}`, 400, "read report: expected one JSON object and nothing after it\n", nil},
		{"too long", "watcher", `{"reason": "` + strings.Repeat("x", 4096) + `"}`, 413, "the report is longer than 4096 bytes\n", nil},
		{"as long as it may be", "watcher", `{"reason": "` + strings.Repeat("x", 4096-14) + `"}`, 204, "", &collectors.Report{Reason: strings.Repeat("x", 4096-14)}},
		{"no name", "", `{}`, 404, "no component at this path: components report to /api/v1/components/NAME, if the configuration has a components collector\n", nil},
		{"a path below", "a/b", `{}`, 404, "no component at this path: components report to /api/v1/components/NAME, if the configuration has a components collector\n", nil},
		{"a name with a space", "a b", `{}`, 400, badName, nil},
		{"a name that begins with a dot", "..", `{}`, 400, badName, nil},
		{"a name with a line feed", "a\n", `{}`, 400, badName, nil},
		{"a name that is too long", strings.Repeat("a", 64), `{}`, 400, badName, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, taken := reporting("")
			r := request(t, s.Local(allowAll), "PUT", "/api/v1/components/"+tt.component, tt.body)
			if body := text(t, r); r.StatusCode != tt.code || body != tt.answer {
				t.Errorf("PUT = %d %q, want %d %q", r.StatusCode, body, tt.code, tt.answer)
			}
			want := map[string]collectors.Report{}
			if tt.want != nil {
				want[tt.component] = *tt.want
			}
			if diff := cmp.Diff(want, taken); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
		})
	}
}

const badName = "invalid name of a component: expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends\n"

func TestReportsOverTheNetworkNeedTheToken(t *testing.T) {
	const needed = "reports over the network need the header Authorization: Bearer TOKEN with the token of server.component_token\n"
	tests := []struct {
		name, token, header string
		code                int
		body                string
	}{
		{"no token configured", "", "Bearer ", 403, "reports are accepted on the Unix socket only: server.component_token is not set in the configuration\n"},
		{"no header", "s3cret", "", 401, needed},
		{"a wrong token", "s3cret", "Bearer s3cre", 401, needed},
		{"another scheme", "s3cret", "Basic s3cret", 401, needed},
		{"the token", "s3cret", "Bearer s3cret", 204, ""},
		{"the scheme in small letters", "s3cret", "bearer s3cret", 204, ""},
	}
	for _, tt := range tests {
		s, taken := reporting(tt.token)
		r := request(t, s.Handler(), "PUT", "/api/v1/components/watcher", `{"alive": true}`, "Authorization", tt.header)
		if body := text(t, r); r.StatusCode != tt.code || body != tt.body || (len(taken) == 1) != (tt.code == 204) {
			t.Errorf("%s: PUT = %d %q, %d taken, want %d %q", tt.name, r.StatusCode, body, len(taken), tt.code, tt.body)
		}
		if challenge := r.Header.Get("WWW-Authenticate"); (challenge != "") != (tt.code == 401) {
			t.Errorf("%s: WWW-Authenticate = %q with %d", tt.name, challenge, tt.code)
		}
	}
}

func TestReportsWithoutAComponentsCollector(t *testing.T) {
	r := request(t, server.New(fixed(healthy())).Local(allowAll), "PUT", "/api/v1/components/watcher", `{}`)
	if body := text(t, r); r.StatusCode != 404 || !strings.HasPrefix(body, "no component at this path") {
		t.Errorf("PUT = %d %q, want 404", r.StatusCode, body)
	}
}

func TestReportsOfAnotherOriginAreRefused(t *testing.T) {
	s, taken := reporting("")
	r := request(t, s.Local(allowAll), "PUT", "/api/v1/components/watcher", `{}`, "Sec-Fetch-Site", "cross-site")
	if r.StatusCode != 403 || len(taken) != 0 {
		t.Errorf("PUT = %d, %d taken, want 403 and none", r.StatusCode, len(taken))
	}
}

// TestAnEndlessBodyIsNotRead sends 10 MB where 4 KiB are allowed: the answer comes at
// once and the connection is closed.
func TestAnEndlessBodyIsNotRead(t *testing.T) {
	s, _ := reporting("")
	for target, length := range map[string]string{
		"PUT /api/v1/components/watcher":   "Content-Length: 10000000",
		"PUT /api/v1/components/expecting": "Content-Length: 10000000\r\nExpect: 100-continue",
		"PUT /api/v1/components/chunked":   "Transfer-Encoding: chunked",
		"POST /ready":                      "Content-Length: 10000000",
	} {
		t.Run(target, func(t *testing.T) {
			c, err := net.Dial("tcp", strings.TrimPrefix(serve(t, s.Local(allowAll)), "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", target, length); err != nil {
				t.Fatal(err)
			}
			sent := make(chan int)
			go func() { sent <- flood(c, strings.HasPrefix(length, "Transfer")) }()
			in := bufio.NewReader(c)
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("read response: %v", err)
			}
			want := 413
			if strings.HasPrefix(target, "POST") {
				want = 405
			}
			if r.StatusCode != want || !r.Close {
				t.Errorf("%s = %d, close %v, want %d and the connection closed", target, r.StatusCode, r.Close, want)
			}
			if n := <-sent; n >= 10_000_000 {
				t.Errorf("the server took %d bytes, want it to stop reading", n)
			}
		})
	}
}

// flood writes up to 10 MB, until the connection breaks, and returns how much it sent.
func flood(w io.Writer, chunked bool) int {
	block := strings.Repeat(" ", 50_000)
	if chunked {
		block = fmt.Sprintf("%x\r\n%s\r\n", len(block), block)
	}
	n := 0
	for range 200 {
		m, err := io.WriteString(w, block)
		n += m
		if err != nil {
			break
		}
	}
	return n
}

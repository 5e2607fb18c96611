package tcp_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/tcp"
)

// documentedDialogues are the examples of the page: the collectors that have one.
func documentedDialogues(t *testing.T) map[string]*tcp.Config {
	t.Helper()
	found := map[string]*tcp.Config{}
	for _, block := range strings.Split(collectortest.Read(t, "README.md"), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		var page struct {
			Collectors []struct {
				Name string
				TCP  *tcp.Config `yaml:"tcp"`
			}
		}
		if err := yaml.Unmarshal([]byte(text), &page); err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Collectors {
			if c.TCP.Protocol == "" {
				c.TCP.IPFamily = "any"
				found[c.Name] = c.TCP
			}
		}
	}
	return found
}

// The dialogues that the page shows work with servers that send what the real ones send.
func TestDocumentedDialogues(t *testing.T) {
	cert, certFile, _ := collectortest.Certificate(t, "mail.example", time.Now().Add(time.Hour))
	const northd = "{\"id\":0,\"result\":\"ovn-northd 22.12.1\\nOpen vSwitch Library 3.0.1\",\"error\":null}"
	const status = "path checker states:\nup                  2\n\npaths: 2\nbusy: False\n\x00"
	servers := map[string]func(net.Conn){
		"sshd":       respond("", "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"),
		"rsync":      respond("", "@RSYNCD: 31.0 sha512 sha256 sha1 md5 md4\n"),
		"smtp":       smtp(cert, ""),
		"ovn-northd": respond(`{"id":0,"method":"version","params":[]}`, northd),
		"collectd":   respond("LISTVAL\n", "2 Values found\n1182204284.123 host/cpu-0/cpu-idle\n"),
		"multipathd": respond("\x0c\x00\x00\x00\x00\x00\x00\x00show status\x00", "\x51\x00\x00\x00\x00\x00\x00\x00"+status),
		"qdrouterd":  respond("AMQP\x03\x01\x00\x00", "AMQP\x03\x01\x00\x00\x00\x00\x00\x1a"),
		"iscsid":     respond(),
	}
	notes := map[string]string{
		"sshd": "SSH-2.0-OpenSSH_9.2p1 Debian-2", "rsync": "@RSYNCD: 31.0 sha512 sha256 sha1 md5 md4", "smtp": "250 HELP",
		"ovn-northd": northd, "collectd": "2 Values found", "multipathd": "paths: 2", "qdrouterd": "AMQP", "iscsid": "connected",
	}
	dialogues := documentedDialogues(t)
	if len(dialogues) != len(servers) {
		t.Fatalf("the page shows %d dialogues, want those of %d servers", len(dialogues), len(servers))
	}
	for name, serve := range servers {
		t.Run(name, func(t *testing.T) {
			config := dialogues[name]
			switch {
			case strings.HasPrefix(config.Address, "unix:/"):
				dir := collectortest.Dir(t)
				collectortest.ListenOn(t, "unix", filepath.Join(dir, strings.ReplaceAll(filepath.Base(config.Address), "*", "123")), nil, serve)
				config.Address = "unix:" + filepath.Join(dir, filepath.Base(config.Address))
			case strings.HasPrefix(config.Address, "unix:@"):
				config.Address = collectortest.ListenOn(t, "unix", "@"+collectortest.Dir(t)+strings.TrimPrefix(config.Address, "unix:@"), nil, serve)
			default:
				config.Address = collectortest.Listen(t, serve)
			}
			if name == "smtp" {
				config.TLS = &remote.ClientTLS{CAFile: certFile, ServerName: "mail.example"}
			}
			if problems := config.Problems(); problems != nil {
				t.Fatalf("Problems() = %v, want none", problems)
			}
			c, err := config.New(collectors.Env{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			samples, err := collectortest.Collect(t, c)
			if err != nil || collectortest.Reason(samples) != "" {
				t.Fatalf("Collect() = %v, want no error", err)
			}
			if note := collectortest.Note(c); !strings.HasPrefix(note, "tcp ") || !strings.HasSuffix(note, notes[name]) {
				t.Errorf("Note() = %q, want it to end with %q", note, notes[name])
			}
		})
	}
}

// smtp is a mail server that starts TLS; injected stands behind its go-ahead.
func smtp(cert tls.Certificate, injected string) func(net.Conn) {
	return func(conn net.Conn) {
		hear := func(conn net.Conn, want, answer string) bool {
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || line != want+"\r\n" {
				return false
			}
			_, err = io.WriteString(conn, answer)
			return err == nil
		}
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
		const features = "250-mail.example\r\n250-PIPELINING\r\n250 HELP\r\n"
		if !hear(conn, "EHLO vitals", features) || !hear(conn, "STARTTLS", "220 2.0.0 Ready to start TLS\r\n"+injected) {
			return
		}
		secured := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}})
		hear(secured, "EHLO vitals", features)
		hear(secured, "QUIT", "221 Bye\r\n")
	}
}

func TestStartTLS(t *testing.T) {
	const steps = `[{expect: '^220 .*\r\n', send: "EHLO vitals\r\n"}, {expect: '^250 .*\r\n', send: "STARTTLS\r\n"},
		{expect: '^220 .*\r\n', starttls: true}, {send: "EHLO vitals\r\n"}, {expect: '^250 ', send: "QUIT\r\n"}]`
	cert, certFile, _ := collectortest.Certificate(t, "mail.example", time.Now().Add(time.Hour))
	honest := collectortest.Listen(t, smtp(cert, ""))
	injecting := collectortest.Listen(t, smtp(cert, "250 OK\r\n"))
	plain := collectortest.Listen(t, respond("", "220 a\r\n", "EHLO vitals\r\n", "250 b\r\n", "STARTTLS\r\n", "502 no\r\n"))
	for _, c := range []struct{ name, address, tls, reason, phases string }{
		{"trusted", honest, "{ca_file: " + certFile + ", server_name: mail.example}", "", "connect tls exchange"},
		{"not trusted", honest, "{server_name: mail.example}", "tls", "connect"},
		{"text before the handshake", injecting, "{ca_file: " + certFile + ", server_name: mail.example}", "protocol", "connect"},
		{"no TLS", plain, "{ca_file: " + certFile + ", server_name: mail.example}", "protocol", "connect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			collector := newCollector(t, "d", "{address: '"+c.address+"', tls: "+c.tls+", query_response: "+steps+"}")
			samples, err := collectortest.Outlast(t, collector, func(samples []collectors.Sample, _ error) bool { return collectortest.Reason(samples) == c.reason })
			if got := collectortest.Reason(samples); got != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, c.reason)
			}
			if got := phases(samples); got != c.phases {
				t.Errorf("phases = %q, want %q", got, c.phases)
			}
			_, ok := collectortest.Value(samples, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="d"}`)
			if shown := c.reason == "" || c.reason == "tls"; ok != shown {
				t.Errorf("there is an expiry: %t, want %t", ok, shown)
			}
		})
	}
}

func TestDialogues(t *testing.T) {
	endless := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			for {
				if _, err := io.WriteString(conn, text); err != nil {
					return
				}
			}
		}
	}
	for _, c := range []struct {
		name, steps string
		serve       func(net.Conn)
		reason      string
		text        string // in the note
		waits       bool   // until the time is over
	}{
		{"the second line", "[{expect: '^250 '}]", respond("", "250-a\r\n250 b\r\n"), "", "250 b", false},
		{"in the middle of a line", "[{expect: 'b+'}]", respond("", "abbc\n"), "", "abbc", false},
		{"nothing to read", "[{send: 'x'}]", respond("x", ""), "", "", false},
		{"each match is used once", "[{expect: '^a\\n'}, {expect: '^a\\n'}, {expect: '^a\\n'}]", respond("", "a\na\n"), "timeout", `step 3: expected "^a\\n"`, true},
		{"two in one piece", "[{expect: '^a\\n'}, {expect: '^b\\n'}]", respond("", "a\nb\n"), "", "b", false},
		{"silent", "[{expect: a}]", respond(), "timeout", "", true},
		{"sends something else", "[{expect: '^SSH-2'}]", respond("", "VERSION 1.6.18\r\n"), "protocol", `got "VERSION 1.6.18`, true},
		{"begins as expected", "[{expect: '^SSH-2'}]", respond("", "SSH-"), "protocol", `got "SSH-"`, true},
		{"closes", "[{expect: a}]", func(net.Conn) {}, "protocol", "EOF", false},
		{"closes after something else", "[{expect: a}]", func(conn net.Conn) { _, _ = io.WriteString(conn, "b") }, "protocol", `EOF; got "b"`, false},
		{"endless", "[{expect: '^done'}]", endless(strings.Repeat("x\n", 2048)), "protocol", "answer is larger than 64KiB", false},
		{"endless in small pieces", "[{expect: '^done'}]", endless("x"), "protocol", "", false},
		{"control characters", "[{expect: 'a'}]", respond("", "\x1b[31ma\x00\n"), "", "[31ma", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address := collectortest.Listen(t, c.serve)
			collector := newCollector(t, "d", "{address: '"+address+"', query_response: "+c.steps+"}")
			collect := collectortest.Collect
			if c.waits {
				collect = func(t testing.TB, collector collectors.Collector) ([]collectors.Sample, error) {
					return collectortest.Outlast(t, collector, func(samples []collectors.Sample, _ error) bool {
						return collectortest.Reason(samples) == c.reason && strings.Contains(collectortest.Note(collector), c.text)
					})
				}
			}
			samples, err := collect(t, collector)
			if got := collectortest.Reason(samples); got != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, c.reason)
			}
			if note := collectortest.Note(collector); !strings.Contains(note, c.text) || strings.ContainsAny(note, "\x00\x1b\n") {
				t.Errorf("Note() = %q, want %q in one clean line", note, c.text)
			}
		})
	}
}

package certificate_test

import (
	"encoding/pem"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/certificate"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestExposition(t *testing.T) {
	l := newLab(t)
	c := l.collector(t, "{files: [DIR/chain.pem], key_file: DIR/key.pem, ca_file: DIR/root.pem, names: [www.example, other.example, 192.0.2.1]}")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	collectortest.Golden(t, "metrics.prom", strings.ReplaceAll(collectortest.Exposition(samples, c.Describe()), l.dir, "/etc/pki"))
	want := l.dir + "/chain.pem: not for other.example; 1 certificate, "
	if note := collectortest.Note(c); !strings.HasPrefix(note, want) {
		t.Errorf("Note() = %q, want %q", note, want)
	}
}

// A certificate that is not in order is a measurement and no failure: rules judge it.
func TestMeasuresWhatIsNotInOrder(t *testing.T) {
	l := newLab(t)
	now := time.Now()
	begin := time.Unix(0, 0)
	expired := issue(t, l.middle, "expired", begin, now.Add(-time.Hour))
	l.write(t, "expired.pem", expired.pem()+l.middle.pem())
	l.write(t, "future.pem", issue(t, l.middle, "future", now.Add(time.Hour), far()).pem()+l.middle.pem())
	l.write(t, "alone.pem", l.leaf.pem())
	ending := issue(t, l.root, "ending", begin, now.Add(time.Hour))
	l.write(t, "ending.pem", issue(t, ending, "leaf", begin, far()).pem()+ending.pem())
	pkcs8, ec := l.leaf.keys(t)
	l.write(t, "combined.pem", ec+l.leaf.pem()+l.middle.pem())
	_, other := l.root.keys(t)
	l.write(t, "other.pem", other)
	l.write(t, "again.pem", "text before\n"+pkcs8)
	for _, tt := range []struct {
		file, key, ca     string
		until             time.Time
		verified, matches float64
		note              string
	}{
		{"chain.pem", "key.pem", "root.pem", l.middle.cert.NotAfter, 1, 1, "1 certificate"},
		{"chain.pem", "again.pem", "root.pem", l.middle.cert.NotAfter, 1, 1, "1 certificate"},
		{"combined.pem", "combined.pem", "root.pem", l.middle.cert.NotAfter, 1, 1, "1 certificate"},
		{"chain.pem", "other.pem", "root.pem", l.middle.cert.NotAfter, 1, 0, "the private key is of another certificate"},
		{"chain.pem", "key.pem", "expired.pem", l.middle.cert.NotAfter, 1, 1, "1 certificate"}, // the bundle has middle
		{"chain.pem", "key.pem", "alone.pem", l.leaf.cert.NotAfter, 1, 1, "1 certificate"},
		{"alone.pem", "key.pem", "root.pem", l.leaf.cert.NotAfter, 0, 1, "not verified"},
		{"expired.pem", "key.pem", "root.pem", expired.cert.NotAfter, 0, 0, "expired"},
		{"future.pem", "key.pem", "root.pem", l.middle.cert.NotAfter, 0, 0, "not yet valid"},
		{"ending.pem", "key.pem", "root.pem", ending.cert.NotAfter, 1, 0, "another certificate"},
		{"root.pem", "key.pem", "", l.root.cert.NotAfter, 0, 0, "not verified"},
	} {
		t.Run(tt.file+" "+tt.key+" "+tt.ca, func(t *testing.T) {
			block := "{files: [DIR/" + tt.file + "], key_file: DIR/" + tt.key
			if tt.ca != "" {
				block += ", ca_file: DIR/" + tt.ca
			}
			c := l.collector(t, block+"}")
			samples, err := collectortest.Collect(t, c)
			if err != nil || collectortest.Reason(samples) != "" || l.value(samples, "dependency_up", "") != 1 {
				t.Errorf("Collect() = %v with the reason %q, want none", err, collectortest.Reason(samples))
			}
			until := float64(tt.until.Unix())
			for metric, want := range map[string]float64{
				"certificate_expiry_timestamp_seconds": until, "certificate_verified": tt.verified, "certificate_key_matches": tt.matches, "certificate_readable": 1,
			} {
				if got := l.value(samples, metric, tt.file); got != want {
					t.Errorf("vitals_%s = %v, want %v", metric, got, want)
				}
			}
			if got := l.value(samples, "tls_certificate_expiry_timestamp_seconds", ""); got != until {
				t.Errorf("vitals_tls_certificate_expiry_timestamp_seconds = %v, want %v", got, until)
			}
			if note := collectortest.Note(c); !strings.Contains(note, tt.note) || len(note) > collectors.MaxNote {
				t.Errorf("Note() = %q, want %q in it", note, tt.note)
			}
		})
	}
}

// A file that cannot be read has its reason. No error contains anything of a private key.
func TestFaults(t *testing.T) {
	l := newLab(t)
	const secret = "hunter2hunter2hunter2"
	encrypted := &pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}, Bytes: []byte(secret)}
	for name, content := range map[string]string{
		"empty.pem": "", "garbage.pem": "SSH-2.0-OpenSSH_9.2\r\n" + secret, "half.pem": l.leaf.pem()[:200], "large.pem": strings.Repeat("x", 2<<20),
		"malformed.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(secret)})),
		"badkey.pem":    string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte(secret)})),
		"encrypted.pem": string(pem.EncodeToMemory(encrypted)),
		"pkcs8.pem":     string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte(secret)})),
	} {
		l.write(t, name, content)
	}
	if err := syscall.Mkfifo(filepath.Join(l.dir, "fifo.pem"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		block, reason, text string
		// readable and verified are those of chain.pem, -1 for none.
		readable, verified float64
	}{
		{"{files: [DIR/none.pem, DIR/chain.pem]}", "not_found", "none.pem: no such file", 1, 0},
		{"{files: [DIR/chain.pem/none, DIR/chain.pem]}", "not_found", "not a directory", 1, 0},
		{"{files: [DIR]}", "protocol", "expected a regular file", -1, -1},
		{"{files: [DIR/fifo.pem]}", "protocol", "expected a regular file", -1, -1},
		{"{files: [DIR/large.pem]}", "protocol", "larger than 1MiB", -1, -1},
		{"{files: [DIR/empty.pem]}", "protocol", "empty.pem: expected certificates in PEM", -1, -1},
		{"{files: [DIR/garbage.pem]}", "protocol", "garbage.pem: expected certificates in PEM", -1, -1},
		{"{files: [DIR/half.pem]}", "protocol", "half.pem: expected certificates in PEM", -1, -1},
		{"{files: [DIR/key.pem]}", "protocol", "key.pem: expected certificates in PEM", -1, -1},
		{"{files: [DIR/malformed.pem]}", "protocol", "malformed.pem: certificate 1 is malformed", -1, -1},
		{"{files: [DIR/chain.pem], ca_file: DIR/none.pem}", "not_found", "none.pem: no such file", 1, -1},
		{"{files: [DIR/chain.pem], ca_file: DIR/garbage.pem}", "protocol", "garbage.pem: expected certificates in PEM", 1, -1},
		{"{files: [DIR/chain.pem], key_file: DIR/none.pem}", "not_found", "none.pem: no such file", 1, 0},
		{"{files: [DIR/chain.pem], key_file: DIR/chain.pem}", "protocol", "chain.pem: expected a private key in PEM", 1, 0},
		{"{files: [DIR/chain.pem], key_file: DIR/garbage.pem}", "protocol", "garbage.pem: expected a private key in PEM", 1, 0},
		{"{files: [DIR/chain.pem], key_file: DIR/badkey.pem}", "protocol", "badkey.pem: the private key is malformed", 1, 0},
		{"{files: [DIR/chain.pem], key_file: DIR/encrypted.pem}", "protocol", "encrypted.pem: the private key is encrypted", 1, 0},
		{"{files: [DIR/chain.pem], key_file: DIR/pkcs8.pem}", "protocol", "pkcs8.pem: the private key is encrypted", 1, 0},
		{"{files: ['DIR/no*.pem', DIR/chain.pem]}", "not_found", "no file matches", 1, 0},
	} {
		t.Run(tt.block, func(t *testing.T) {
			c := l.collector(t, tt.block)
			samples, err := collectortest.Collect(t, c)
			if got := collectortest.Reason(samples); got != tt.reason || err == nil || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), secret) {
				t.Errorf("Collect() has the reason %q and the error %v, want %q and %q", got, err, tt.reason, tt.text)
			}
			if note := collectortest.Note(c); !strings.HasPrefix(note, "certificate "+tt.reason+": ") || strings.Contains(note, secret) {
				t.Errorf("Note() = %q, want the reason %s", note, tt.reason)
			}
			for metric, want := range map[string]float64{"certificate_readable": tt.readable, "certificate_verified": tt.verified, "certificate_key_matches": -1} {
				if got := l.value(samples, metric, "chain.pem"); got != want {
					t.Errorf("vitals_%s = %v, want %v", metric, got, want)
				}
			}
		})
	}
}

// A renewed file is read again, and each file of several patterns counts once.
func TestPatterns(t *testing.T) {
	l := newLab(t)
	c := l.collector(t, "{files: ['DIR/*.crt', 'DIR/web[0-9].crt', DIR/web1.crt]}")
	if samples, err := collectortest.Collect(t, c); collectortest.Reason(samples) != "not_found" || err == nil || !strings.Contains(err.Error(), "; and 2 more") {
		t.Errorf("Collect() without files = %v, want not_found", err)
	}
	for i := range 3 {
		l.write(t, fmt.Sprintf("web%d.crt", i), issue(t, nil, "web", time.Unix(0, 0), far().AddDate(-i, 0, 0)).pem())
	}
	samples, err := collectortest.Collect(t, c)
	first := far().AddDate(-2, 0, 0)
	if got := l.value(samples, "tls_certificate_expiry_timestamp_seconds", ""); err != nil || got != float64(first.Unix()) {
		t.Errorf("Collect() = %v with the earliest expiry %v, want %v", err, got, first.Unix())
	}
	if note, want := collectortest.Note(c), "3 certificates, "+l.dir+"/web2.crt expires 2098-01-01 00:00:00"; !strings.HasSuffix(note, want) {
		t.Errorf("Note() = %q, want %q", note, want)
	}
	for i := range 70 {
		l.write(t, fmt.Sprintf("more%d.crt", i), l.root.pem())
	}
	samples, err = collectortest.Collect(t, c)
	count := strings.Count(collectortest.Exposition(samples, nil), "vitals_certificate_readable{")
	if count != 64 || err == nil || !strings.Contains(err.Error(), "73 files match: expected at most 64") {
		t.Errorf("Collect() of 73 files measures %d with the error %v, want 64", count, err)
	}
}

func TestConfig(t *testing.T) {
	many := strings.Repeat("/a,", 16) + "/a"
	for block, want := range map[string]string{
		"{}": ": expected files or secret, and not both",
		"{files: [/a], secret: {namespace: a, name: b}}": ": expected files or secret, and not both",
		"{files: [a.pem]}":                `files[0]: path "a.pem": expected an absolute path`,
		"{files: ['/a[']}":                `files[0]: file "/a[": expected a path or a pattern: syntax error in pattern`,
		"{files: [/a, /a]}":               `files[1]: file "/a" is listed twice: expected it once`,
		"{files: [/a, /b], key_file: /k}": "key_file: key_file: expected one entry of files with it, which is no pattern",
		"{files: ['/*'], key_file: k}":    "key_file: key_file: expected one entry of files with it, which is no pattern\nkey_file: path \"k\": expected an absolute path",
		"{files: [/a], ca_file: c}":       `ca_file: path "c": expected an absolute path`,
		"{files: [/a], names: [www.example, 'a b', www.example, 192.0.2.1, '*']}": "names[1]: name \"a b\": expected a host or an IP address, such as www.example\n" +
			"names[2]: name \"www.example\" is listed twice: expected it once\nnames[4]: name \"*\": expected a host or an IP address, such as www.example",
		"{secret: {namespace: A, name: a/b, context: c}}": "secret.context: context \"c\" has no kubeconfig: expected kubeconfig with it\n" +
			"secret.name: name \"a/b\": expected lower-case letters, digits, '-' and '.'\nsecret.namespace: namespace \"A\": expected lower-case letters, digits and '-'",
		"{secret: {namespace: a, name: ..}}":                       "secret.name: name \"..\": expected lower-case letters, digits, '-' and '.'",
		"{secret: {namespace: a, name: b.c-d, kubeconfig: /k}}":    "",
		"{files: ['/etc/pki/*/*.pem', /a], names: [a.example]}":    "",
		"{files: [/a], key_file: /k, ca_file: /c, names: ['::1']}": "",
	} {
		if got := collectortest.Problems(t, block, &certificate.Config{}); got != want {
			t.Errorf("Problems() of %s = %q, want %q", block, got, want)
		}
	}
	if got := collectortest.Problems(t, "{files: ["+many+"]}", &certificate.Config{}); !strings.Contains(got, "files: 17 files: expected at most 16") {
		t.Errorf("Problems() of 17 files = %q, want the bound", got)
	}
	for block, want := range map[string]bool{"{files: [/a]}": false, "{secret: {namespace: a, name: b}}": true} {
		config := &certificate.Config{}
		collectortest.Decode(t, block, config)
		if got := config.External(); got != want || config.Uses() != nil {
			t.Errorf("External() of %s = %t, want %t", block, got, want)
		}
	}
}

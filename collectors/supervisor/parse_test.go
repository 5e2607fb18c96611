package supervisor

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The mode of a socket does not restrict root. A full queue of a socket returns
// EAGAIN (connect(2)).
func TestForbidden(t *testing.T) {
	dialed := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	full := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EAGAIN)}
	for err, want := range map[error]reason{dialed: forbidden, full: timeout, &net.DNSError{Err: "no such host", IsNotFound: true}: refused, nil: ""} {
		if got := reasonOf(err); got != want {
			t.Errorf("reason of %v = %q, want %q", err, got, want)
		}
	}
}

func TestParseXMLRPC(t *testing.T) {
	value := func(v string) string {
		return "<?xml version='1.0'?>\n<methodResponse>\n<params>\n<param>\n<value>" + v + "</value>\n</param>\n</params>\n</methodResponse>\n"
	}
	deep := func(n int) string {
		return value(strings.Repeat("<array><data><value>", n) + strings.Repeat("</value></data></array>", n))
	}
	tests := []struct {
		name, answer string
		want         any
		wrong        string
	}{
		{"string", value("<string>a &lt;b&gt; &#228;</string>"), "a <b> ä", ""},
		{"string without a type", value(" a "), " a ", ""},
		{"empty string", value("<string></string>"), "", ""},
		{"nothing in a value", value(""), "", ""},
		{"CDATA", value("<string><![CDATA[<a>]]></string>"), "<a>", ""},
		{"int", value("<int>-1</int>"), int64(-1), ""},
		{"i4", value("<i4>7</i4>"), int64(7), ""},
		{"boolean", value("<boolean>1</boolean>"), true, ""},
		{"list", value("<array><data><value>a</value> <value><int>1</int></value></data></array>"), []any{"a", int64(1)}, ""},
		{"empty list", value("<array><data/></array>"), []any{}, ""},
		{"struct", value("<struct><member><name>n</name><value>v</value></member></struct>"), map[string]any{"n": "v"}, ""},
		{"comments", value("<!-- a --><int>1</int><!-- b -->"), int64(1), ""},
		{"as deep as may be", deep(7), []any{[]any{[]any{[]any{[]any{[]any{[]any{""}}}}}}}, ""},
		{"one deeper", deep(8), nil, "values more than 8 deep"},
		{"very deep", deep(100_000), nil, "values more than 8 deep"},
		{"fault", "<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>10</int></value></member><member><name>faultString</name><value>BAD_NAME</value></member></struct></value></fault></methodResponse>", nil, "fault 10: BAD_NAME"},
		{"fault without a code", "<methodResponse><fault><value>bad</value></fault></methodResponse>", nil, "a fault without faultCode and faultString"},
		{"no parameter", "<methodResponse><params></params></methodResponse>", nil, "the end of an element: expected param"},
		{"two parameters", value("1</value></param><param><value>2"), nil, `element "param": expected `},
		{"a call", "<methodCall></methodCall>", nil, `element "methodCall": expected methodResponse`},
		{"more after it", value("1") + "<more/>", nil, "more after the answer"},
		{"text after it", value("1") + "more", nil, "more after the answer"},
		{"number that is none", value("<int>one</int>"), nil, `int "one": expected a number`},
		{"number that is too large", value("<int>9223372036854775808</int>"), nil, "expected a number"},
		{"boolean that is none", value("<boolean>2</boolean>"), nil, `a value of type "boolean"`},
		{"type that supervisord never sends", value("<double>1.5</double>"), nil, `a value of type "double": expected int, boolean, string, array or struct`},
		{"element in a number", value("<int><b>1</b></int>"), nil, `an element in a value of type "int"`},
		{"text before a type", value("x<int>1</int>"), nil, `text before element "int" in a value`},
		{"text behind a type", value("<int>1</int>x"), nil, `text "x"`},
		{"two types", value("<int>1</int><int>2</int>"), nil, `element "int"`},
		{"list without data", value("<array></array>"), nil, "the end of an element: expected data"},
		{"list of members", value("<array><data><member/></data></array>"), nil, `element "member": expected value`},
		{"struct of values", value("<struct><value>1</value></struct>"), nil, `element "value": expected member`},
		{"member without a name", value("<struct><member><value>1</value></member></struct>"), nil, `element "value": expected name`},
		{"member without a value", value("<struct><member><name>n</name></member></struct>"), nil, "expected value"},
		{"member twice", value("<struct><member><name>n</name><value>1</value></member><member><name>n</name><value>2</value></member></struct>"), nil, `member "n" twice`},
		{"attributes", value("<int size='4'>1</int>"), nil, "with a name space or attributes"},
		{"name space", "<methodResponse xmlns='x'></methodResponse>", nil, "with a name space or attributes"},
		{"prefix", "<x:methodResponse></x:methodResponse>", nil, "with a name space or attributes"},
		{"document type", "<!DOCTYPE x [<!ENTITY e 'eee'>]>" + value("&e;"), nil, "a document type: expected none"},
		{"unknown entity", value("&e;"), nil, "invalid character entity"},
		{"tags that do not match", "<methodResponse></params>", nil, "closed by"},
		{"not UTF-8", value("<string>\xff</string>"), nil, "invalid UTF-8"},
		{"another encoding", `<?xml version="1.0" encoding="latin1"?>` + value("1"), nil, "encoding"},
		{"control character", value("<string>\x01</string>"), nil, "illegal character"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseXMLRPC(strings.NewReader(tt.answer))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parseXMLRPC() (-want +got):\n%s", diff)
			}
			if tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("parseXMLRPC() = %v, want an error with %q", err, tt.wrong)
			}
		})
	}
}

// A file that is not in order leaves the programs that were read before.
func TestCriticalProgramsOfABrokenFile(t *testing.T) {
	var c criticalPrograms
	c.watch("/f")
	if err := c.take([]byte("program:a\n")); err != nil {
		t.Fatal(err)
	}
	if err := c.take([]byte("nonsense\n")); err == nil || c.err == nil {
		t.Errorf("take() = %v, err = %v, want errors", err, c.err)
	}
	if got := c.names(); len(got) != 1 || got[0].program != "a" {
		t.Errorf("names() = %v, want a", got)
	}
}

func TestUptime(t *testing.T) {
	for _, tt := range []struct {
		name  string
		p     program
		want  float64
		known bool
	}{
		{"running", program{state: "running", start: 100, now: 160}, 60, true},
		{"just started", program{state: "running", start: 100, now: 100}, 0, true},
		{"the clock was set back", program{state: "running", start: 100, now: 99}, 0, false},
		{"stopped", program{state: "stopped", start: 100, now: 160}, 0, false},
		{"after 2038", program{state: "running", start: 100, now: 1<<31 - 1}, 0, false},
	} {
		if got, known := tt.p.uptime(); known != tt.known || known && got != tt.want {
			t.Errorf("%s: uptime() = %v, %v, want %v, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
}

// For any answer parsing ends, and a result is valid.
func FuzzAnswer(f *testing.F) {
	for _, name := range []string{"programs.xml", "shutdown.xml"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("<methodResponse><fault><value><i4>1</i4></value></fault></methodResponse>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseXMLRPC(bytes.NewReader(data))
		if (v == nil) != (err != nil) {
			t.Fatalf("parseXMLRPC() = %v, %v, want one of them", v, err)
		}
		a, err := parseAnswer(v)
		if err != nil {
			return
		}
		known := map[string]bool{}
		for _, p := range a.programs {
			name := p.group + ":" + p.name
			if known[name] || !validName(p.group) || !validName(p.name) || strings.Count(name, ":") != 1 {
				t.Errorf("a program %q, want each once and with a name", name)
			}
			known[name] = true
			if n, err := parseName(name); err != nil || !n.matches(p) {
				t.Errorf("parseName(%q) = %v, %v, want what matches the program", name, n, err)
			}
		}
	})
}

// Every line is a program, blank or a mistake with its place.
func FuzzCriticalFile(f *testing.F) {
	f.Add("program:snmpd\n\ngroup: dhcp-relay\n")
	f.Add("snmpd\nservice:a\nprogram:\nprogram:a:b\r\n# no comments")
	f.Fuzz(func(t *testing.T, text string) {
		names, err := parseCriticalFile("/f", []byte(text))
		lines := len(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }))
		if len(names) > lines || len(names) > maxCritical+1 {
			t.Errorf("%d names in %d lines", len(names), lines)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "/f:") {
			t.Errorf("error = %q, want the place", err)
		}
		for _, n := range names {
			if err == nil && n == (programName{}) {
				t.Errorf("%q: a name that matches everything: %s", text, fmt.Sprint(n))
			}
		}
	})
}

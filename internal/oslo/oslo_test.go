package oslo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/oslo"
)

func TestParse(t *testing.T) {
	const text = "# comment = 1\n; [comment]\n" +
		"[DEFAULT]\r\nequal = a:b=c\ncolon: a=b\rempty =\n" +
		"  \t\nspace \x1f= \u00a0 a b \u00a0\x1f\n" +
		"hash = a # b ; c\n" +
		"pair = \" a \"\nsingle = ' '\nalone = \"\nopen = 'a\"\ninside = a \"b\"\n" +
		"lines = \"a\"\n  \" b \"\n\t# c\n" +
		"after-lines = 1\nafter_lines = 2\n" +
		"[Neutron]\nport = 1\nport = 2\n" +
		"[default]\nother = 1\n[ odd] name]\na.b = 1\n" +
		"[neutron]\nport = 3\n"
	file, errs := oslo.Parse(text)
	if len(errs) != 0 {
		t.Fatalf("Parse() = %v, want no error", errs)
	}
	for _, c := range []struct {
		section, name string
		want          oslo.Option
	}{
		{"DEFAULT", "equal", oslo.Option{Value: "a:b=c", Line: 4}},
		{"DEFAULT", "colon", oslo.Option{Value: "a=b", Line: 5}},
		{"DEFAULT", "empty", oslo.Option{Value: "", Line: 6}},
		{"DEFAULT", "space", oslo.Option{Value: "a b", Line: 8}},
		{"DEFAULT", "hash", oslo.Option{Value: "a # b ; c", Line: 9}},
		{"DEFAULT", "pair", oslo.Option{Value: " a ", Line: 10}},
		{"DEFAULT", "single", oslo.Option{Value: " ", Line: 11}},
		{"DEFAULT", "alone", oslo.Option{Value: "", Line: 12}},
		{"DEFAULT", "open", oslo.Option{Value: `'a"`, Line: 13}},
		{"DEFAULT", "inside", oslo.Option{Value: `a "b"`, Line: 14}},
		{"DEFAULT", "lines", oslo.Option{Value: "a\n\" b \"\n# c", Line: 15}},
		{"DEFAULT", "after-lines", oslo.Option{Value: "1", Line: 18}},
		{"DEFAULT", "after_lines", oslo.Option{Value: "2", Line: 19}},
		{"NEUTRON", "port", oslo.Option{Value: "3", Line: 28}},
		{"Default", "other", oslo.Option{Value: "1", Line: 24}},
		{" odd] name", "a.b", oslo.Option{Value: "1", Line: 26}},
	} {
		if got, ok := file.Option(c.section, c.name); !ok || got != c.want {
			t.Errorf("Option(%s, %s) = %+v, %t, want %+v", c.section, c.name, got, ok, c.want)
		}
	}
	for _, absent := range [][2]string{
		{"DEFAULT", "Equal"}, {"DEFAULT", "other"}, {"default", "equal"}, {"neutron", "equal"}, {"comment", "port"}, {"none", "none"},
	} {
		if got, ok := file.Option(absent[0], absent[1]); ok {
			t.Errorf("Option(%s, %s) = %+v, want none", absent[0], absent[1], got)
		}
	}
}

func TestParseReportsEveryMistake(t *testing.T) {
	const (
		section = `bad section: expected "[name]" and nothing behind it`
		orphan  = "an indented line that continues nothing: expected no space at its start, or an option right above it"
		outside = "an option before the first section: expected [DEFAULT] or another section above it"
		noValue = `no "=" or ":": expected a section, "name = value", a comment or an indented continuation of the value above`
		noName  = `no name before the "=" or ":": expected "name = value"`
		binary  = "bytes that are not UTF-8: expected a text file"
	)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"options without a section", "a = 1\n b\nc = 1\n", []string{"1: " + outside}},
		{"options below a bad section", "[a\nb = 1\n c\n[]\n[d] # e\n", []string{"1: " + section, "4: " + section, "5: " + section}},
		{"lines without a value", "[a]\nb\n c\n= d\n\ufeff[a]\n", []string{"2: " + noValue, "4: " + noName, "5: " + noValue}},
		{"below a section", "[a]\n b = 1\n", []string{"2: " + orphan}},
		{"below a comment", "[a]\nb = 1\n# c\n d\n", []string{"4: " + orphan}},
		{"below an empty line", "[a]\nb = 1\n \n d\n e\n", []string{"4: " + orphan}},
		{"not UTF-8", "[a]\nb = \xe4\nc\n", []string{"2: " + binary, "3: " + noValue}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, errs := oslo.Parse(c.text)
			var got []string
			for _, err := range errs {
				got = append(got, strings.TrimPrefix(err.In("f"), "f:"))
				if want := "line " + got[len(got)-1]; err.Error() != want {
					t.Errorf("Error() = %q, want %q", err.Error(), want)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Parse() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	const text = "[DEFAULT]\nip = 10.0.0.1\nhost = default\nchain = $ip:${other.Port}\ndotted.name = d\n" +
		"[other]\nhost = own\nPort = 1\nup = $host\ncircle = $circle\nempty =\n"
	const long = "expected a value (a dollar sign is written $$)"
	file, errs := oslo.Parse(text + "long = " + strings.Repeat("x", 1<<20) + "\n")
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct{ name, section, value, want string }{
		{"plain", "other", "a", "a"},
		{"same section first", "other", "$host", "own"},
		{"DEFAULT second", "other", "$ip/${ip}x", "10.0.0.1/10.0.0.1x"},
		{"another section", "DEFAULT", "$other.host ${OTHER.host}", "own own"},
		{"chain", "other", "<$chain>", "<10.0.0.1:1>"},
		{"the section of the reference", "DEFAULT", "$other.up", "own"},
		{"name with a dot", "DEFAULT", "$dotted.name", "d"},
		{"empty", "other", "a${empty}b", "ab"},
		{"escaped", "other", `$$ip \$ip $$$$ip`, "$ip $ip $$ip"},
		{"no name", "other", "$ $1 ${ ${1} ${ip $-", "$ $1 ${ ${1} ${ip $-"},
		{"not set", "other", "a $none", "error: refers to $none, which this file does not set: " + long},
		{"name of another case", "other", "$IP", "error: refers to $IP, which this file does not set: " + long},
		{"circle", "other", "$circle", "error: refers to too many other options, or in a circle: " + long},
		{"too many", "other", strings.Repeat("$ip", 33), "error: refers to too many other options, or in a circle: " + long},
		{"too long", "other", "$long$long", "error: has more than 1048576 bytes with its references replaced: " + long},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := file.Resolve(c.section, oslo.Option{Value: c.value})
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want {
				t.Errorf("Resolve() = %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzParse checks that mistakes are within the file and in order, that references end,
// and that a value of one line is the same when it is written in quotes.
func FuzzParse(f *testing.F) {
	f.Add("[DEFAULT]\na = b\n c\n[s]\nx:$a\n", "s", "x")
	f.Add("[n]\na = $a\nb = $b$c\nc = $b$b\n", "n", "b")
	f.Add("[\"\r = \"\n\ufeff[a]\n= 1\n \xff", "", "")
	f.Fuzz(func(t *testing.T, text, section, name string) {
		file, errs := oslo.Parse(text)
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		if !slices.IsSortedFunc(errs, func(a, b oslo.Error) int { return a.Line - b.Line }) {
			t.Errorf("Parse() = %v, want the errors in order", errs)
		}
		for _, err := range errs {
			if err.Line < 1 || err.Line > lines || !strings.Contains(err.Text, "expected") {
				t.Errorf("Parse() = %v, want a line from 1 to %d and what is expected", err, lines)
			}
		}
		o, ok := file.Option(section, name)
		if !ok || len(errs) > 0 {
			return
		}
		_, _ = file.Resolve(section, o)
		if strings.Contains(o.Value, "\n") {
			return
		}
		again, errs := oslo.Parse("[s]\nx = \"" + o.Value + "\"\n")
		if got, _ := again.Option("s", "x"); len(errs) != 0 || got.Value != o.Value {
			t.Errorf("Option() of a copy = %q, %v, want %q", got.Value, errs, o.Value)
		}
	})
}

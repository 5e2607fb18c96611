package resp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote/lines"
	"github.com/vitals-health/vitals/collectors/remote/resp"
)

func TestCommands(t *testing.T) {
	for got, want := range map[string]string{
		resp.Command("PING"):            "*1\r\n$4\r\nPING\r\n",
		resp.Command("CLUSTER", "INFO"): "*2\r\n$7\r\nCLUSTER\r\n$4\r\nINFO\r\n",
		resp.Auth("", "päss"):           "*2\r\n$4\r\nAUTH\r\n$5\r\npäss\r\n",
		resp.Auth("u", "p\r\n"):         "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$3\r\np\r\n\r\n",
	} {
		if got != want {
			t.Errorf("the command is %q, want %q", got, want)
		}
	}
}

func TestReadBulk(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         []string
		err          string
	}{
		{"lines", "$10\r\na:1\r\nb:2\r\n\r\n", []string{"a:1", "b:2"}, ""},
		{"the last line has no end", "$8\r\na:1\r\nb:2\r\n", []string{"a:1", "b:2"}, ""},
		{"an empty line", "$9\r\na:1\r\n\r\nb\r\n\r\n", []string{"a:1", ""}, "longer than announced"},
		{"empty", "$0\r\n\r\n", nil, ""},
		{"null", "$-1\r\n", nil, "expected a bulk string for INFO"},
		{"a status", "+OK\r\n", nil, "expected a bulk string for INFO"},
		{"an error", "-ERR no 'secret'\r\n", nil, "answer to INFO: ERR no"},
		{"too large", "$262145\r\n", nil, "262145 bytes: expected at most 256KiB"},
		{"cut off", "$10\r\na:1\r\n", []string{"a:1"}, "EOF"},
		{"more than announced", "$5\r\na:1\r\nb\r\n", []string{"a:1"}, "longer than announced"},
		{"without CR", "$5\r\na:1\n", nil, "expected CR LF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			err := resp.ReadBulk(lines.New(collectortest.Played(c.answer)), "INFO", resp.Command("INFO"), func(line string) { got = append(got, line) })
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("ReadBulk() = %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseError(t *testing.T) {
	for _, c := range []struct {
		answer, text     string
		unknown, tooMany bool
	}{
		{"-ERR unknown command 'AUTH', with args beginning with: 'hunter2'", "answer to AUTH: ERR unknown command", true, false},
		{"-ERR max number of clients reached", "answer to AUTH: ERR max number of clients reached", false, true},
		{"-NOAUTH Authentication required.", "answer to AUTH: NOAUTH Authentication required.", false, false},
	} {
		reply, ok := resp.ParseError("AUTH", c.answer)
		if !ok || reply.Error() != c.text || reply.UnknownCommand() != c.unknown || reply.TooManyClients() != c.tooMany {
			t.Errorf("ParseError(%q) = %+v, %t, want %s", c.answer, reply, ok, c.text)
		}
	}
	for _, answer := range []string{"", "+OK", "-oops", "ERR no"} {
		if reply, ok := resp.ParseError("AUTH", answer); ok {
			t.Errorf("ParseError(%q) = %+v, want none", answer, reply)
		}
	}
}

// A reply ends within its bounds, and its lines have no line's end.
func FuzzReadBulk(f *testing.F) {
	for _, seed := range []string{"$10\r\na:1\r\nb:2\r\n\r\n", "$8\r\na:1\r\nb:2\r\n", "$0\r\n\r\n", "-ERR 'x'\r\n", "$4294967295\r\n", "$5\r\na\xff1\r\n\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		size := 0
		err := resp.ReadBulk(lines.New(collectortest.Played(answer)), "INFO", "", func(line string) {
			if size += len(line) + 2; strings.HasSuffix(line, "\n") {
				t.Errorf("the line %q of %q has its end", line, answer)
			}
		})
		if size > len(answer) {
			t.Errorf("%d bytes of lines of %q", size, answer)
		}
		if reply, ok := errors.AsType[*resp.Error](err); ok && !strings.HasPrefix(answer, "-"+reply.Code) {
			t.Errorf("ReadBulk() of %q = %v, want the code of its first line", answer, err)
		}
	})
}

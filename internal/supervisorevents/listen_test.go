package supervisorevents_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/supervisorevents"
)

// sent is an event as supervisord 4.2.5 sends it, with the length in bytes.
func sent(name, payload string) string {
	return sentWith(name, payload, fmt.Sprintf(" len:%d", len(payload)))
}

func sentWith(name, payload, length string) string {
	return "ver:3.0 server:supervisor serial:21 pool:listener poolserial:10 eventname:" + name + length + "\n" + payload
}

// listen returns the events and calls of Disturbed, the output, and what Listen returns.
func listen(t *testing.T, in io.Reader) (string, string, supervisorevents.Counts, error) {
	t.Helper()
	var lines []string
	var out strings.Builder
	l := &supervisorevents.Listener{
		Handle: func(e supervisorevents.Event) { lines = append(lines, e.Name+" "+e.Field("processname")) },
		Disturbed: func(err error) {
			if err == nil {
				lines = append(lines, "resumed")
				return
			}
			lines = append(lines, "disturbed: "+err.Error())
		},
	}
	counts, err := l.Listen(in, &out)
	return strings.Join(lines, "\n"), out.String(), counts, err
}

func TestListen(t *testing.T) {
	exited := "processname:cat groupname:cat from_state:RUNNING expected:0 pid:2766"
	tests := []struct {
		name, in string
		want     string
		answers  int
		counts   supervisorevents.Counts
	}{
		{"E63 no input", "", "", 0, supervisorevents.Counts{}},
		{"an event", sent("PROCESS_STATE_EXITED", exited), "PROCESS_STATE_EXITED cat", 1, supervisorevents.Counts{Events: 1}},
		{"two events", sent("PROCESS_STATE_EXITED", exited) + sent("TICK_5", "when:1795254705"), "PROCESS_STATE_EXITED cat\nTICK_5 ", 2, supervisorevents.Counts{Events: 2}},
		{"without a payload", sent("SUPERVISOR_STATE_CHANGE_RUNNING", ""), "SUPERVISOR_STATE_CHANGE_RUNNING ", 1, supervisorevents.Counts{Events: 1}},
		{"a payload with lines", sent("PROCESS_COMMUNICATION_STDOUT", "processname:cat groupname:cat pid:1\nalive\nprocessname:x\n") + sent("TICK_5", ""), "PROCESS_COMMUNICATION_STDOUT cat\nTICK_5 ", 2, supervisorevents.Counts{Events: 2}},
		{"a payload that looks like a header", sent("PROCESS_COMMUNICATION_STDOUT", sent("TICK_5", "")+"x") + sent("TICK_60", ""), "PROCESS_COMMUNICATION_STDOUT \nTICK_60 ", 2, supervisorevents.Counts{Events: 2}},
		{"E63 in the middle of a header", "ver:3.0 server:super", "", 0, supervisorevents.Counts{}},
		{"E63 in the middle of a payload", sentWith("TICK_5", "when:17952", " len:15"), "", 0, supervisorevents.Counts{}},
		{"E64 no length, no payload", sentWith("TICK_5", "", "") + sent("TICK_5", ""), "disturbed: a header without a length\nresumed\nTICK_5 ", 2, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"E64 no length, and a payload", sentWith("PROCESS_STATE_EXITED", exited, "") + sent("TICK_5", ""), "disturbed: a header without a length\nresumed\nTICK_5 ", 2, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"E64 no length, and a payload with lines", sentWith("PROCESS_COMMUNICATION_STDOUT", "processname:cat\nalive\n", "") + sent("TICK_5", ""), "disturbed: a header without a length\nresumed\nTICK_5 ", 2, supervisorevents.Counts{Events: 1, Errors: 3}},
		{"E64 a length that is not a number", sentWith("TICK_5", "", " len:five") + sent("TICK_5", ""), "disturbed: a header without a length\nresumed\nTICK_5 ", 2, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"E64 a negative length", sentWith("TICK_5", "", " len:-1") + sent("TICK_5", ""), "disturbed: a header without a length\nresumed\nTICK_5 ", 2, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"E64 a length that overflows", sentWith("TICK_5", "", " len:99999999999999999999") + sent("TICK_5", ""), "disturbed: a header without a length\nresumed\nTICK_5 ", 2, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"E64 garbage", "hello\n\nworld ver:\n" + sent("TICK_5", ""), "disturbed: a line that is not a header\nresumed\nTICK_5 ", 1, supervisorevents.Counts{Events: 1, Errors: 3}},
		{"E64 garbage before a header", "garbage" + sent("TICK_5", ""), "disturbed: unexpected bytes before a header\nresumed\nTICK_5 ", 1, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"E64 long garbage before a header", strings.Repeat("ver:1 ", 1<<20) + sent("TICK_5", ""), "disturbed: unexpected bytes before a header\nresumed\nTICK_5 ", 1, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"E64 a header without a server", "ver:3.0 eventname:TICK_5 len:0\n" + sent("TICK_5", ""), "disturbed: a line that is not a header\nresumed\nTICK_5 ", 1, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"disturbed twice", "a\n" + sent("TICK_5", "") + "b\n" + sent("TICK_60", ""),
			"disturbed: a line that is not a header\nresumed\nTICK_5 \ndisturbed: a line that is not a header\nresumed\nTICK_60 ", 2, supervisorevents.Counts{Events: 2, Errors: 2}},
		{"the longest payload", sent("TICK_5", strings.Repeat("x", supervisorevents.MaxPayload)), "TICK_5 ", 1, supervisorevents.Counts{Events: 1}},
		{"a payload that is too long", sent("TICK_5", strings.Repeat("x", supervisorevents.MaxPayload+1)) + sent("TICK_60", ""), "disturbed: a payload of 1048577 bytes: expected at most 1048576\nresumed\nTICK_60 ", 2, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"a payload that is too long, and looks like a header", sent("TICK_5", strings.Repeat("x", supervisorevents.MaxPayload)+"\n"+sent("TICK_3600", "")) + sent("TICK_60", ""), "disturbed: a payload of 1048667 bytes: expected at most 1048576\nresumed\nTICK_60 ", 2, supervisorevents.Counts{Events: 1, Errors: 1}},
		{"no rest of a payload after a header without a length", sentWith("PROCESS_COMMUNICATION_STDOUT", "processname:cat\ngrün", " len:20") + sentWith("TICK_5", "", "") + "garbage\n" + sent("TICK_60", ""),
			"PROCESS_COMMUNICATION_STDOUT cat\ndisturbed: a header without a length\nresumed\nTICK_60 ", 3, supervisorevents.Counts{Events: 2, Errors: 2}},
		// supervisord sends the length in characters, so that bytes of the payload remain.
		{"a length in characters", sentWith("PROCESS_COMMUNICATION_STDOUT", "processname:cat pid:1\ngrün", " len:26") + sent("TICK_5", ""), "PROCESS_COMMUNICATION_STDOUT cat\nTICK_5 ", 2, supervisorevents.Counts{Events: 2}},
		{"a length in characters, with lines", sentWith("PROCESS_COMMUNICATION_STDOUT", "processname:cat pid:1\n漢字\nx\ny", " len:28") + sent("TICK_5", ""), "PROCESS_COMMUNICATION_STDOUT cat\nTICK_5 ", 2, supervisorevents.Counts{Events: 2}},
	}
	for _, tt := range tests {
		for way, in := range map[string]io.Reader{
			"at once": strings.NewReader(tt.in), "in halves": iotest.HalfReader(strings.NewReader(tt.in)), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.in)),
		} {
			t.Run(tt.name+", "+way, func(t *testing.T) {
				got, out, counts, err := listen(t, in)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || counts != tt.counts {
					t.Errorf("Listen() = %+v, %v, want %+v; events (-want +got):\n%s", counts, err, tt.counts, diff)
				}
				if want := "READY\n" + strings.Repeat("RESULT 2\nOKREADY\n", tt.answers); out != want {
					t.Errorf("written = %q, want %q", out, want)
				}
			})
		}
	}
}

// An event is acknowledged after it was handled.
func TestListenAnswersAfterHandle(t *testing.T) {
	var trace []string
	in, out := io.Pipe()
	read, answers := io.Pipe()
	done := make(chan error, 1)
	l := &supervisorevents.Listener{Handle: func(e supervisorevents.Event) { trace = append(trace, "handle "+e.Name) }}
	go func() {
		_, err := l.Listen(in, answers)
		done <- err
	}()
	expect := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(read, got); err != nil || string(got) != want {
			t.Fatalf("written %q, %v, want %q", got, err, want)
		}
		trace = append(trace, strings.TrimSpace(want))
	}
	expect("READY\n")
	for _, name := range []string{"A", "B"} {
		if _, err := io.WriteString(out, sent(name, "")); err != nil {
			t.Fatal(err)
		}
		expect("RESULT 2\nOK")
		expect("READY\n")
	}
	_ = out.Close()
	if err := <-done; err != nil {
		t.Errorf("Listen() = %v, want nil", err)
	}
	if want := []string{"READY", "handle A", "RESULT 2\nOK", "READY", "handle B", "RESULT 2\nOK", "READY"}; !slices.Equal(trace, want) {
		t.Errorf("trace = %q, want %q", trace, want)
	}
}

func TestListenEnds(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		in   io.Reader
		out  io.Writer
		want error
	}{
		"E63 supervisord closes the pipe before the answer": {strings.NewReader(sent("TICK_5", "")), &failing{after: 1, err: &os.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}}, nil},
		"writing fails":           {strings.NewReader(""), &failing{err: broken}, broken},
		"reading fails":           {iotest.ErrReader(broken), io.Discard, broken},
		"reading a payload fails": {io.MultiReader(strings.NewReader(sentWith("TICK_5", "", " len:5")), iotest.ErrReader(broken)), io.Discard, broken},
	} {
		l := &supervisorevents.Listener{Handle: func(supervisorevents.Event) {}, Disturbed: func(error) {}}
		if _, err := l.Listen(tt.in, tt.out); !errors.Is(err, tt.want) {
			t.Errorf("%s: Listen() = %v, want %v", name, err, tt.want)
		}
	}
}

// failing is a writer that fails after some writes.
type failing struct {
	after int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// For any input, the listener ends at its end, writes only the protocol's words, and answers
// at most once for each header.
func FuzzListen(f *testing.F) {
	f.Add(sent("PROCESS_STATE_EXITED", "processname:cat groupname:cat from_state:RUNNING expected:0 pid:2766") + sent("TICK_5", "when:1"))
	f.Add(sentWith("TICK_5", "processname:x", "") + "\n" + sentWith("TICK_5", "grün", " len:4") + sent("TICK_60", ""))
	f.Add(sentWith("TICK_5", "x", " len:2000000"))
	protocol := regexp.MustCompile(`^READY\n(RESULT 2\nOKREADY\n)*$`)
	f.Fuzz(func(t *testing.T, in string) {
		_, out, counts, err := listen(t, strings.NewReader(in))
		if err != nil || !protocol.MatchString(out) {
			t.Errorf("Listen() = %v, written %q, want nil and the protocol's words", err, out)
		}
		if answers := strings.Count(out, "OK"); answers > strings.Count(in, "\n") || answers < counts.Events {
			t.Errorf("%d answers to %d events in %d lines", answers, counts.Events, strings.Count(in, "\n"))
		}
	})
}

func ExampleListener() {
	l := &supervisorevents.Listener{
		Handle:    func(e supervisorevents.Event) { fmt.Println(e.Name, e.Field("processname")) },
		Disturbed: func(err error) { fmt.Println("disturbed:", err) },
	}
	in := strings.NewReader("ver:3.0 server:supervisor serial:1 pool:listener poolserial:1 eventname:PROCESS_STATE_FATAL len:15\nprocessname:cat")
	counts, err := l.Listen(in, io.Discard) // a listener's are stdin and stdout
	fmt.Println(counts.Events, err)
	// Output:
	// PROCESS_STATE_FATAL cat
	// 1 <nil>
}

package components

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
)

// FuzzNotification sends arbitrary sd_notify datagrams to a component. Whatever it was, the
// state is readable, its deadline bounded, and the next valid datagram counts.
func FuzzNotification(f *testing.F) {
	for _, data := range []string{
		"READY=1\nSTATUS=Watching\nMAINPID=7", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=1", "WATCHDOG=1\x00", "WATCHDOG=trigger\nERRNO=32",
		"WATCHDOG_USEC=1\nREADY=1", "X_VITALS_EVENT=cni_add failure timeout\nX_VITALS_EVENT=cni_add success", "STATUS=\xff\nbad", "=\n\n",
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &Config{Expect: []string{"a"}, Events: map[string]Events{"cni_add": {Errors: []string{"timeout"}}}}
		made, err := c.New(collectors.Env{Name: "parts"})
		if err != nil {
			t.Fatal(err)
		}
		parts, at := made.(*Collector), time.Now()
		parts.notify(at, "a", data)
		s := parts.status(at)[0]
		if len(s.Reason) > collectors.MaxReason || !utf8.ValidString(s.Reason) || strings.ContainsFunc(s.Reason, unicode.IsControl) {
			t.Errorf("reason %q, want one line of at most %d bytes", s.Reason, collectors.MaxReason)
		}
		if d := parts.known["a"].deadline; d != 0 && (d < minNotifiedDeadline || d > maxNotifiedDeadline) {
			t.Errorf("deadline %s, want one between %s and %s", d, minNotifiedDeadline, maxNotifiedDeadline)
		}
		for _, e := range s.Events {
			if e.Event != "cni_add" {
				t.Errorf("event %q, want the configured one alone", e.Event)
			}
		}
		if len(data) < maxNotification && !strings.HasSuffix(string(data), "\x00") {
			one, ended := parseNotification(data), parseNotification(append(data[:len(data):len(data)], 0))
			if diff := cmp.Diff(notificationText(one), notificationText(ended)); diff != "" {
				t.Errorf("%q with the NUL of a string in C differs:\n%s", data, diff)
			}
		}
		parts.notify(at, "a", []byte("READY=1"))
		if s := parts.status(at)[0]; s.Alive == nil || !*s.Alive || s.Ready == nil || !*s.Ready {
			t.Errorf("after %q, READY=1 gives %+v, want alive and ready", data, s)
		}
	})
}

// FuzzSharedBoolean reads shared memory of any content: the first byte decides.
func FuzzSharedBoolean(f *testing.F) {
	for _, content := range []string{"", "\x00", "\x01", "\xff\x00", "\x00\x01", "true\n"} {
		f.Add([]byte(content))
	}
	path := filepath.Join(f.TempDir(), "alive")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		b := &sharedBoolean{name: "a", path: path}
		defer b.close()
		b.check(time.Now())
		for _, b.memory = range []bool{false, true} {
			got := b.read()
			if len(content) == 0 {
				if got.value || got.reason != "shared boolean: file is empty" {
					t.Errorf("read() of an empty file = %+v, want a reason", got)
				}
				continue
			}
			if want := (reading{value: content[0] != 0}); got != want {
				t.Errorf("read() of %q = %+v, want %+v", content, got, want)
			}
		}
	})
}

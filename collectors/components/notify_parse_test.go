package components

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// notificationText formats a parsed datagram.
func notificationText(n notification) string {
	text := "nothing"
	if r := n.report; r != nil {
		text = "alive " + optionalText(r.Alive) + ", ready " + optionalText(r.Ready)
		if r.Reason != "" {
			text += ": " + r.Reason
		}
	}
	for _, e := range n.events {
		text += fmt.Sprintf(" {%s}", strings.TrimSpace(strings.Join([]string{e.Event, e.Result, e.Error}, " ")))
	}
	if n.deadline > 0 {
		text += fmt.Sprint(" [deadline ", n.deadline, "]")
	}
	if n.invalid {
		text += " [invalid]"
	}
	return text
}

func optionalText(b *bool) string {
	if b == nil {
		return "?"
	}
	return fmt.Sprint(*b)
}

func TestParseNotification(t *testing.T) {
	tests := []struct{ name, given, want string }{
		{"ready", "READY=1", "alive true, ready true"},
		{"ready with a line break", "READY=1\n", "alive true, ready true"},
		{"ready with the end of a C string", "READY=1\x00", "alive true, ready true"},
		{"ready with a status", "READY=1\nSTATUS=synced 42 pods\nMAINPID=7", "alive true, ready true: synced 42 pods"},
		{"heartbeat", "WATCHDOG=1", "alive true, ready ?"},
		{"status alone", "STATUS=loading", "alive ?, ready ?: loading"},
		{"empty status", "STATUS=", "alive ?, ready ?"},
		{"status with an equals sign", "STATUS=a=b", "alive ?, ready ?: a=b"},
		{"stopping", "STOPPING=1", "alive ?, ready false: stopping"},
		{"stopping with a status", "STOPPING=1\nSTATUS=draining", "alive ?, ready false: draining"},
		{"reloading", "RELOADING=1\nMONOTONIC_USEC=12", "alive true, ready ?: reloading"},
		{"reloaded", "RELOADING=1\nREADY=1", "alive true, ready true"},
		{"watchdog trigger", "WATCHDOG=trigger", "alive false, ready ?: watchdog trigger"},
		{"trigger overrides other assignments", "WATCHDOG=trigger\nREADY=1\nWATCHDOG=1", "alive false, ready true: watchdog trigger"},
		{"error", "ERRNO=5", "alive false, ready ?: errno 5: input/output error"},
		{"error with a status", "STATUS=cannot open database\nERRNO=2", "alive false, ready ?: cannot open database"},
		{"no error", "ERRNO=0", "alive ?, ready ?"},
		{"error that is no number", "ERRNO=EIO", "nothing [invalid]"},
		{"error that is negative", "ERRNO=-5", "nothing [invalid]"},
		{"error that is too large", "ERRNO=4096", "nothing [invalid]"},
		{"deadline", "WATCHDOG_USEC=20000000", "alive ?, ready ? [deadline 20s]"},
		{"deadline that is too short", "WATCHDOG_USEC=1", "alive ?, ready ? [deadline 100ms]"},
		{"deadline that is too long", "WATCHDOG_USEC=18446744073709551615", "alive ?, ready ? [deadline 1h0m0s]"},
		{"deadline that would switch supervision off", "WATCHDOG_USEC=0", "nothing [invalid]"},
		{"deadline that is no number", "WATCHDOG_USEC=1s", "nothing [invalid]"},
		{"event", "X_VITALS_EVENT=cni_add success", "nothing {cni_add success}"},
		{"events", "X_VITALS_EVENT=cni_add failure netlink\nREADY=1\nX_VITALS_EVENT=cni_del success", "alive true, ready true {cni_add failure netlink} {cni_del success}"},
		{"event without a result", "X_VITALS_EVENT=cni_add", "nothing [invalid]"},
		{"event with more than a class", "X_VITALS_EVENT=cni_add failure netlink no such link", "nothing [invalid]"},
		{"event without anything", "X_VITALS_EVENT=", "nothing [invalid]"},
		{"what is of no concern", "MAINPID=1\nFDSTORE=1\nFDNAME=x\nBARRIER=1\nX_FOO=bar\nEXTEND_TIMEOUT_USEC=5", "nothing"},
		{"empty", "", "nothing [invalid]"},
		{"line breaks only", "\n\n", "nothing [invalid]"},
		{"no assignment", "hello", "nothing [invalid]"},
		{"binary", "\x00\x01\xfe\xff\x80", "nothing [invalid]"},
		{"lower case", "ready=1", "nothing [invalid]"},
		{"no name", "=1", "nothing [invalid]"},
		{"other value", "READY=0", "nothing [invalid]"},
		{"garbage beside a report", "READY=1\ngarbage", "alive true, ready true [invalid]"},
		{"status that is not UTF-8", "STATUS=caf\xe9", "alive ?, ready ?: caf\xe9 [invalid]"},
		{"as long as it may be", "STATUS=" + strings.Repeat("x", maxNotification-7), "alive ?, ready ?: " + strings.Repeat("x", maxNotification-7)},
		{"too long", "READY=1\nSTATUS=" + strings.Repeat("x", maxNotification), "nothing [invalid]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := notificationText(parseNotification([]byte(tt.given))); got != tt.want {
				t.Errorf("parseNotification(%q) = %s, want %s", tt.given, got, tt.want)
			}
		})
	}
}

func TestParseNotificationTakesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(
			rapid.SampledFrom([]string{"READY=1", "STOPPING=1", "WATCHDOG=1", "WATCHDOG=trigger", "RELOADING=1", "ERRNO=3", "WATCHDOG_USEC=9", "STATUS=\xff\xfe"}),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 600), func(b []byte) string { return string(b) }),
		)
		data := []byte(strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n"))
		n := parseNotification(data)
		if n.deadline != 0 && (n.deadline < minNotifiedDeadline || n.deadline > maxNotifiedDeadline) {
			t.Fatalf("deadline = %s, want one between %s and %s", n.deadline, minNotifiedDeadline, maxNotifiedDeadline)
		}
		if n.report == nil {
			return
		}
		if got := text.Short(n.report.Reason, collectors.MaxReason); len(got) > collectors.MaxReason || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\x00") {
			t.Fatalf("oneLine(%q) = %q, want one line of at most %d bytes of UTF-8", n.report.Reason, got, collectors.MaxReason)
		}
	})
}

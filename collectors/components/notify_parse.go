package components

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/vitals-health/vitals/collectors"
)

// The bounds of a deadline that a component sets with WATCHDOG_USEC: it can neither
// make Vitals busy nor switch its own supervision off.
const (
	minNotifiedDeadline = 100 * time.Millisecond
	maxNotifiedDeadline = time.Hour
)

// notification is what one sd_notify datagram says.
type notification struct {
	// report is nil if nothing in the datagram is about health.
	report *collectors.Report
	// events are what the datagram says of events, whose names are not known yet.
	events []collectors.Event
	// deadline is the new one; zero leaves the old.
	deadline time.Duration
	// invalid says that the datagram, or a part of it, was not understood.
	invalid bool

	// status, fault and phase are what may become the report's reason.
	status, fault, phase string
}

// parseNotification reads the assignments of a datagram, one a line. It knows
// READY, WATCHDOG, STATUS, STOPPING, RELOADING, ERRNO, WATCHDOG_USEC and
// X_VITALS_EVENT, and ignores all others, such as MAINPID, FDSTORE and BARRIER.
// Source: sd_notify(3), which asks others to let their names begin with X_.
func parseNotification(data []byte) notification {
	var n notification
	if len(data) > maxNotification {
		n.invalid = true
		return n
	}
	// A sender in C may count the string's end in.
	text := strings.Trim(strings.TrimSuffix(string(data), "\x00"), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		name, value, ok := strings.Cut(line, "=")
		if !ok || !isAssignable(name) {
			n.invalid = true
			continue
		}
		n.assign(name, value)
	}
	if n.fault != "" {
		n.said().Alive = new(false)
	}
	if n.report != nil {
		n.report.Reason = firstOf(n.status, n.fault, n.phase)
	}
	return n
}

// assign takes one assignment.
func (n *notification) assign(name, value string) {
	switch name {
	case "STATUS":
		n.invalid = n.invalid || !utf8.ValidString(value)
		n.status = value
		n.said()
	case "WATCHDOG_USEC":
		n.setDeadline(value)
	case "X_VITALS_EVENT":
		n.event(value)
	case "ERRNO":
		n.fault = firstOf(n.errno(value), n.fault)
	case "READY", "STOPPING", "RELOADING", "WATCHDOG":
		n.change(name + "=" + value)
	}
}

// change takes one of the assignments that have few values.
func (n *notification) change(assignment string) {
	switch assignment {
	case "READY=1":
		n.said().Alive, n.said().Ready = new(true), new(true)
		n.phase = ""
	case "STOPPING=1":
		n.said().Ready = new(false)
		n.phase = "stopping"
	case "RELOADING=1":
		n.said().Alive = new(true)
		n.phase = "reloading"
	case "WATCHDOG=1":
		n.said().Alive = new(true)
	case "WATCHDOG=trigger":
		n.fault = firstOf(n.fault, "watchdog trigger")
	default:
		n.invalid = true
	}
}

// event takes a name, a result and, with a failure, the class of the error.
func (n *notification) event(value string) {
	words := strings.Fields(value)
	if len(words) != 2 && len(words) != 3 {
		n.invalid = true
		return
	}
	e := collectors.Event{Event: words[0], Result: words[1]}
	if len(words) == 3 {
		e.Error = words[2]
	}
	n.events = append(n.events, e)
}

// said returns the report, which is there from the first time on.
func (n *notification) said() *collectors.Report {
	if n.report == nil {
		n.report = &collectors.Report{}
	}
	return n.report
}

func (n *notification) setDeadline(usec string) {
	v, err := strconv.ParseUint(usec, 10, 64)
	if err != nil || v == 0 {
		n.invalid = true
		return
	}
	v = min(max(v, uint64(minNotifiedDeadline.Microseconds())), uint64(maxNotifiedDeadline.Microseconds()))
	n.deadline = time.Duration(v) * time.Microsecond
	n.said()
}

// errno returns the text of an error number, which is empty for 0: no error.
func (n *notification) errno(value string) string {
	// 4095 is the kernel's own bound, MAX_ERRNO.
	v, err := strconv.ParseUint(value, 10, 16)
	if err != nil || v > 4095 {
		n.invalid = true
		return ""
	}
	n.said()
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("errno %d: %s", v, syscall.Errno(v))
}

// isAssignable says whether a name has the form of a variable's name.
func isAssignable(name string) bool {
	for _, r := range name {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return name != ""
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

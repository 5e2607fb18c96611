package components

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/vitals-health/vitals/collectors"
)

// The limits of a deadline that a component sets with WATCHDOG_USEC. They prevent a busy
// loop and an unsupervised component.
const (
	minNotifiedDeadline = 100 * time.Millisecond
	maxNotifiedDeadline = time.Hour
)

// notification is a parsed sd_notify datagram.
type notification struct {
	// report is nil if the datagram has no assignment about health.
	report *collectors.Report
	// events are the events of the datagram before validation.
	events []collectors.Event
	// deadline is the new deadline; zero is no change.
	deadline time.Duration
	// invalid is whether the datagram or a part of it is invalid.
	invalid bool

	// status, fault and phase are candidates for the reason, in this order.
	status, fault, phase string
}

// parseNotification parses a datagram: one assignment in each line. It supports READY,
// WATCHDOG, STATUS, STOPPING, RELOADING, ERRNO, WATCHDOG_USEC and X_VITALS_EVENT, and
// ignores all others, such as MAINPID, FDSTORE and BARRIER. Source: sd_notify(3), which
// reserves the prefix X_ for extensions.
func parseNotification(data []byte) notification {
	var n notification
	if len(data) > maxNotification {
		n.invalid = true
		return n
	}
	// A sender in C may include the NUL of the string.
	text := strings.Trim(strings.TrimSuffix(string(data), "\x00"), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		name, value, ok := strings.Cut(line, "=")
		if !ok || !isVariable(name) {
			n.invalid = true
			continue
		}
		n.assign(name, value)
	}
	if n.fault != "" {
		n.ensureReport().Alive = new(false)
	}
	if n.report != nil {
		n.report.Reason = cmp.Or(n.status, n.fault, n.phase)
	}
	return n
}

// assign processes one assignment.
func (n *notification) assign(name, value string) {
	switch name {
	case "STATUS":
		n.invalid = n.invalid || !utf8.ValidString(value)
		n.status = value
		n.ensureReport()
	case "WATCHDOG_USEC":
		n.setDeadline(value)
	case "X_VITALS_EVENT":
		n.event(value)
	case "ERRNO":
		n.fault = cmp.Or(n.errno(value), n.fault)
	case "READY", "STOPPING", "RELOADING", "WATCHDOG":
		n.change(name + "=" + value)
	}
}

// change processes an assignment with a fixed set of values.
func (n *notification) change(assignment string) {
	switch assignment {
	case "READY=1":
		n.ensureReport().Alive, n.ensureReport().Ready = new(true), new(true)
		n.phase = ""
	case "STOPPING=1":
		n.ensureReport().Ready = new(false)
		n.phase = "stopping"
	case "RELOADING=1":
		n.ensureReport().Alive = new(true)
		n.phase = "reloading"
	case "WATCHDOG=1":
		n.ensureReport().Alive = new(true)
	case "WATCHDOG=trigger":
		n.fault = cmp.Or(n.fault, "watchdog trigger")
	default:
		n.invalid = true
	}
}

// event parses a name, a result and the optional class of an error.
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

// ensureReport returns the report and creates it on the first call.
func (n *notification) ensureReport() *collectors.Report {
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
	n.ensureReport()
}

// errno returns the text of an error number, "" for 0.
func (n *notification) errno(value string) string {
	// 4095 is MAX_ERRNO of the kernel.
	v, err := strconv.ParseUint(value, 10, 16)
	if err != nil || v > 4095 {
		n.invalid = true
		return ""
	}
	n.ensureReport()
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("errno %d: %s", v, syscall.Errno(v))
}

// isVariable reports whether a name has the form of an environment variable.
func isVariable(name string) bool {
	for _, r := range name {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return name != ""
}

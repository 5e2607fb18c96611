package execprobe

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/text"
)

// ContentType is the media type of a verdict as text. The daemon uses it if it stands
// first in Accept, and JSON otherwise.
const ContentType = "text/plain"

// Text returns the verdict in the format that the exec probe parses: one line per field
// that is not zero, with the field's JSON name, a space and the value. The keys line, pending
// and note repeat. The verdict is last, so that a truncated text is detected. A decoder of
// JSON would make the probe a tenth larger, and slower.
func (v *Verdict) Text() []byte {
	var b []byte
	add := func(key, value string) {
		if value != "" {
			b = append(b, key+" "+text.OneLine(value)+"\n"...)
		}
	}
	number := func(key string, n int) {
		if n != 0 {
			add(key, strconv.Itoa(n))
		}
	}
	add("state", v.State)
	if !v.Since.IsZero() {
		add("since", v.Since.UTC().Format(time.RFC3339Nano))
	}
	if v.Stalled {
		add("stalled", "true")
	}
	add("age_seconds", strconv.FormatFloat(v.AgeSeconds, 'g', -1, 64))
	add("generation", strconv.FormatUint(v.Generation, 10))
	add("reason", v.Reason)
	add("rule", v.Rule)
	add("status", v.Status)
	add("value", v.Value)
	add("range", v.Range)
	number("exit_code", v.ExitCode)
	number("rules", v.Rules)
	number("failing", v.Failing)
	number("unknown", v.Unknown)
	for _, line := range v.Lines {
		add("line", line)
	}
	for _, rule := range v.Pending {
		add("pending", rule)
	}
	for _, note := range v.Notes {
		add("note", note)
	}
	add("verdict", v.Verdict)
	return b
}

// parseText parses the format of Text. It ignores unknown keys, which another version
// of the daemon may send.
func parseText(text string) (*Verdict, error) {
	v, last := &Verdict{}, ""
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !strings.HasSuffix(line, "\n") {
			return nil, fmt.Errorf("line %.32q: expected a key and a value", line)
		}
		if err := v.set(key, value); err != nil {
			return nil, fmt.Errorf("%s %.32q: %w", key, value, err)
		}
		last = key
	}
	if last == "verdict" {
		return v, nil
	}
	return nil, fmt.Errorf("no verdict at the end of %.32q", text)
}

// set sets the field of a key.
func (v *Verdict) set(key, value string) (err error) {
	switch key {
	case "state":
		v.State = value
	case "verdict":
		v.Verdict = value
	case "since":
		v.Since, err = time.Parse(time.RFC3339Nano, value)
	case "stalled":
		v.Stalled, err = strconv.ParseBool(value)
	case "age_seconds":
		v.AgeSeconds, err = strconv.ParseFloat(value, 64)
	case "generation":
		v.Generation, err = strconv.ParseUint(value, 10, 64)
	case "reason":
		v.Reason = value
	case "rule":
		v.Rule = value
	case "status":
		v.Status = value
	case "value":
		v.Value = value
	case "range":
		v.Range = value
	case "exit_code":
		v.ExitCode, err = strconv.Atoi(value)
	case "rules":
		v.Rules, err = strconv.Atoi(value)
	case "failing":
		v.Failing, err = strconv.Atoi(value)
	case "unknown":
		v.Unknown, err = strconv.Atoi(value)
	case "line":
		v.Lines = append(v.Lines, value)
	case "pending":
		v.Pending = append(v.Pending, value)
	case "note":
		v.Notes = append(v.Notes, value)
	}
	return err
}

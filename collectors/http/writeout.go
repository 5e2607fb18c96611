package http

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// writeOut is a parsed format in the syntax of curl's --write-out (curl(1)).
type writeOut []writeOutPart

// writeOutPart is a variable, or text if value is nil.
type writeOutPart struct {
	text  string
	value func(*answer) string
}

// parseWriteOut reads a format: %{NAME} is a variable, %% is %, and \n, \r and \t are
// white space. Any other % or backslash is literal.
func parseWriteOut(format string) (writeOut, error) {
	var parts writeOut
	var message strings.Builder
	variables := writeOutVariables()
	for rest := format; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "%{"):
			name, after, closed := strings.Cut(rest[2:], "}")
			if !closed {
				return nil, fmt.Errorf("%q: expected a } after %%{", text.Short(rest, 40))
			}
			value := variables[name]
			if value == nil {
				return nil, fmt.Errorf("variable %q: expected one of %s", text.Short(name, 40), strings.Join(slices.Sorted(maps.Keys(variables)), ", "))
			}
			parts = append(parts, writeOutPart{text: message.String()}, writeOutPart{value: value})
			message.Reset()
			rest = after
			continue
		case strings.HasPrefix(rest, "%%"):
			rest = rest[1:]
		case len(rest) > 1 && rest[0] == '\\' && strings.ContainsRune("nrt", rune(rest[1])):
			message.WriteByte(' ')
			rest = rest[2:]
			continue
		}
		message.WriteByte(rest[0])
		rest = rest[1:]
	}
	return append(parts, writeOutPart{text: message.String()}), nil
}

// render returns the note for an answer.
func (w writeOut) render(a *answer) string {
	var out strings.Builder
	for _, part := range w {
		out.WriteString(part.text)
		if part.value != nil {
			out.WriteString(part.value(a))
		}
	}
	return out.String()
}

// showsBody reports whether the note has the body.
func (c *collector) showsBody() bool { return strings.Contains(c.config.NoteFormat, "%{body}") }

// writeOutVariables returns the variables of curl that apply here, and two others: body, without
// secrets that their form reveals, and remote_address, address and port with brackets for IPv6.
// Times are in seconds from the beginning, as in curl, and 0 for an
// event that did not happen.
func writeOutVariables() map[string]func(*answer) string {
	status := func(a *answer) string { return fmt.Sprintf("%03d", a.status) }
	since := func(moment func(hop) time.Time) func(*answer) string {
		return func(a *answer) string {
			var passed time.Duration
			if at := moment(a.trace.last()); !at.IsZero() {
				passed = at.Sub(a.trace.began)
			}
			return writeOutSeconds(passed)
		}
	}
	return map[string]func(*answer) string{
		"body":           func(a *answer) string { return strings.TrimSpace(redact.Text(string(a.shown))) },
		"http_code":      status,
		"response_code":  status,
		"http_version":   func(a *answer) string { return strconv.FormatFloat(a.version, 'g', -1, 64) },
		"method":         func(a *answer) string { return a.method },
		"num_redirects":  func(a *answer) string { return strconv.Itoa(a.redirects) },
		"remote_address": func(a *answer) string { return a.trace.last().peer },
		"remote_ip": func(a *answer) string {
			host, _ := a.trace.last().address()
			return host
		},
		"remote_port": func(a *answer) string {
			_, port := a.trace.last().address()
			return port
		},
		"scheme":             func(a *answer) string { return a.url.Scheme },
		"size_download":      func(a *answer) string { return strconv.FormatInt(a.size, 10) },
		"time_appconnect":    since(func(h hop) time.Time { return h.handshakeEnd }),
		"time_connect":       since(func(h hop) time.Time { return h.connectEnd }),
		"time_namelookup":    since(func(h hop) time.Time { return h.resolveEnd }),
		"time_pretransfer":   since(func(h hop) time.Time { return h.ready }),
		"time_starttransfer": since(func(h hop) time.Time { return h.firstByte }),
		"time_total":         func(a *answer) string { return writeOutSeconds(a.trace.total()) },
		"url_effective":      func(a *answer) string { return redactedURL(a.url) },
	}
}

func writeOutSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

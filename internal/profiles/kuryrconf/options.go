package kuryrconf

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/oslo"
)

// reader reads options of a file. Its methods do not change the target of an option that
// the file does not set, and record a mistake for an invalid value.
type reader struct {
	file     oslo.File
	mistakes []oslo.Error
}

// value is an option that the file sets.
type value struct {
	oslo.Option

	name string // for messages
	text string // with references replaced
}

// get returns the first of the names that the file sets: the option's current name, then
// its former names, which oslo.config writes with - or _.
func (r *reader) get(section string, names ...string) (value, bool) {
	for _, name := range names {
		o, ok := r.file.Option(section, name)
		if !ok {
			continue
		}
		v := value{Option: o, name: "[" + section + "] " + name}
		text, err := r.file.Resolve(section, o)
		if err != nil {
			r.add(v, " "+err.Error())
			return value{}, false
		}
		v.text = text
		return v, true
	}
	return value{}, false
}

// fail records that a value is not what is expected. It shows the value as written,
// because a reference may be replaced by a secret.
func (r *reader) fail(v value, expected string) {
	r.add(v, fmt.Sprintf(" %.32q: expected %s", v.Value, expected))
}

func (r *reader) add(v value, text string) {
	r.mistakes = append(r.mistakes, oslo.Error{Line: v.Line, Text: v.name + text})
}

func (r *reader) text(to *string, section string, names ...string) {
	if v, ok := r.get(section, names...); ok {
		*to = v.text
	}
}

// path reads the absolute path of a file or a directory.
func (r *reader) path(to *string, section, name string) {
	v, ok := r.get(section, name)
	switch {
	case !ok:
	case v.text == "" || filepath.IsAbs(v.text):
		*to = v.text
	default:
		r.fail(v, "an absolute path")
	}
}

func (r *reader) secret(to *collectors.Secret, section string, names ...string) {
	if v, ok := r.get(section, names...); ok {
		*to = collectors.Secret(v.text)
	}
}

// choice reads one of a few words.
func (r *reader) choice(to *string, section, name string, words ...string) {
	v, ok := r.get(section, name)
	switch {
	case !ok:
	case slices.Contains(words, v.text):
		*to = v.text
	default:
		r.fail(v, "one of "+strings.Join(words, ", "))
	}
}

// link reads the URL of a service. No error shows the value: it may contain a password.
func (r *reader) link(to *string, section, name string) {
	v, ok := r.get(section, name)
	if !ok || v.text == "" {
		return
	}
	if !isURL(v.text) {
		r.add(v, ": expected a URL such as https://host:port/path")
		return
	}
	*to = v.text
}

// root reads the URL of a service, for which an empty value has a meaning of its own.
func (r *reader) root(to **string, section, name string) {
	if _, ok := r.get(section, name); ok {
		*to = new(string)
		r.link(*to, section, name)
	}
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// boolean reads the spellings of oslo.config, in any case.
func (r *reader) boolean(to *bool, section, name string) {
	v, ok := r.get(section, name)
	if !ok {
		return
	}
	switch strings.ToLower(v.text) {
	case "true", "1", "on", "yes":
		*to = true
	case "false", "0", "off", "no":
		*to = false
	default:
		r.fail(v, "true, false, yes, no, on, off, 1 or 0")
	}
}

// number reads an integer that is valid. An empty value is not set, as in oslo.config.
func (r *reader) number(to *int, section, name string, valid func(int) bool, expected string) {
	v, ok := r.get(section, name)
	text := strings.TrimSpace(v.text)
	if !ok || text == "" {
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || !valid(n) {
		r.fail(v, expected)
		return
	}
	*to = n
}

func (r *reader) port(to *int, section, name string) {
	r.number(to, section, name, func(n int) bool { return n >= 1 && n <= 65535 }, "a port from 1 to 65535")
}

// seconds reads a duration in whole seconds.
func (r *reader) seconds(to *time.Duration, section, name string) {
	const most = 1 << 30 // 34 years
	n := int(*to / time.Second)
	r.number(&n, section, name, func(n int) bool { return n >= 0 && n < most }, "a number of seconds, 0 or more")
	*to = time.Duration(n) * time.Second
}

// list reads items separated by commas. Empty items are left out.
func (r *reader) list(to *[]string, section, name string) {
	v, ok := r.get(section, name)
	if !ok {
		return
	}
	*to = nil
	for item := range strings.SplitSeq(v.text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			*to = append(*to, item)
		}
	}
}

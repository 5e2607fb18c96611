package kuryrconf

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reader takes options out of a file. Every method leaves what it is pointed to
// alone where the file says nothing, and notes a mistake where it says nonsense.
type reader struct {
	file     file
	mistakes []mistake
}

// value is an option that the file sets.
type value struct {
	assignment

	name string // as messages have it
	text string // with its references resolved
}

// get returns the first of the names that the file sets: an option's own name, and
// then the ones that it had before, which oslo.config writes with - or _.
func (r *reader) get(section string, names ...string) (value, bool) {
	for _, name := range names {
		a, ok := r.file[section][name]
		if !ok {
			continue
		}
		v := value{assignment: a, name: "[" + section + "] " + name}
		text, err := r.file.substitute(section, a.value)
		if err != nil {
			r.mistakes = append(r.mistakes, mistake{a.line, v.name + " " + err.Error()})
			return value{}, false
		}
		v.text = text
		return v, true
	}
	return value{}, false
}

// fail notes that a value is not what is expected. It shows the value as it is
// written, so that a reference to a secret does not show the secret.
func (r *reader) fail(v value, expected string) {
	r.mistakes = append(r.mistakes, mistake{v.line, fmt.Sprintf("%s %.32q: expected %s", v.name, v.value, expected)})
}

func (r *reader) text(to *string, section string, names ...string) {
	if v, ok := r.get(section, names...); ok {
		*to = v.text
	}
}

// path takes the absolute path of a file or a directory.
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

func (r *reader) secret(to *Secret, section string, names ...string) {
	if v, ok := r.get(section, names...); ok {
		*to = Secret(v.text)
	}
}

// choice takes one of a few words.
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

// link takes the URL of a service. The value is not shown: it may hold a password.
func (r *reader) link(to *string, section, name string) {
	v, ok := r.get(section, name)
	if !ok || v.text == "" {
		return
	}
	u, err := url.Parse(v.text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.mistakes = append(r.mistakes, mistake{v.line, v.name + ": expected a URL such as https://host:port/path"})
		return
	}
	*to = v.text
}

// boolean takes the spellings of oslo.config, in any case.
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

// number takes an integer that suits. An empty value is none, as in oslo.config.
func (r *reader) number(to *int, section, name string, suits func(int) bool, expected string) {
	v, ok := r.get(section, name)
	text := strings.TrimSpace(v.text)
	if !ok || text == "" {
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || !suits(n) {
		r.fail(v, expected)
		return
	}
	*to = n
}

func (r *reader) port(to *int, section, name string) {
	r.number(to, section, name, func(n int) bool { return n >= 1 && n <= 65535 }, "a port from 1 to 65535")
}

// seconds takes a duration in whole seconds.
func (r *reader) seconds(to *time.Duration, section, name string) {
	const most = 1 << 30 // 34 years
	n := int(*to / time.Second)
	r.number(&n, section, name, func(n int) bool { return n >= 0 && n < most }, "a number of seconds, 0 or more")
	*to = time.Duration(n) * time.Second
}

// list takes items that commas separate. Items that are empty are left out.
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

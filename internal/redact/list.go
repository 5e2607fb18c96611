package redact

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

const (
	// minAnywhere is the length in bytes from which a secret is hidden also within a word. A
	// shorter one is hidden as a whole word: as a part of one, it would match in unrelated text.
	minAnywhere = 8
	// maxRead bounds the secrets that are not those of the configuration. A token that is
	// issued once a minute stays hidden for hours.
	maxRead = 200
	// maxCut is how much of a secret may be left in front of dots, in bytes.
	maxCut = 512
	// dots end a text that was cut.
	dots = "..."
)

// List holds all secrets of a process, and hides them in texts. A nil List hides nothing. Its
// methods are safe for concurrent use.
type List struct {
	mu         sync.Mutex // guards what follows
	configured []string
	// read are the others, with the number of the call of Add that had them last.
	read  map[string]uint64
	calls uint64

	current atomic.Pointer[forms]
}

// forms are what to look for in a text.
type forms struct {
	// by are the forms of the secrets by their first byte, longer ones first.
	by [256][]string
	// starts has a bit for the first two bytes of each form, to pass over most of a text fast.
	starts [1 << 16 / 64]uint64
	// names are the values of labels that stay as they are.
	names map[string]bool
}

// Use replaces the secrets of the configuration. Those of the one before stay in the list as those
// of Add do. Label does not change names.
func (l *List) Use(secrets, names []string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addLocked(l.configured)
	l.configured = distinct(secrets)
	l.updateLocked(names)
}

// Add adds secrets that were read from a file or received from a server. The list keeps the last
// 200, and none that is shorter than four bytes.
func (l *List) Add(secrets ...string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.addLocked(distinct(secrets)) {
		l.updateLocked(nil)
	}
}

// addLocked reports whether the list has changed.
func (l *List) addLocked(secrets []string) (changed bool) {
	if l.read == nil {
		l.read = map[string]uint64{}
	}
	l.calls++
	for _, secret := range secrets {
		if _, known := l.read[secret]; !known {
			changed = true
		}
		l.read[secret] = l.calls
	}
	for len(l.read) > maxRead {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(l.read)), func(a, b string) int { return cmp.Compare(l.read[a], l.read[b]) })
		delete(l.read, oldest)
	}
	return changed
}

// updateLocked publishes the list. Without names, those of before stay.
func (l *List) updateLocked(names []string) {
	next := &forms{names: map[string]bool{}}
	if before := l.current.Load(); names == nil && before != nil {
		next.names = before.names
	}
	for _, name := range names {
		next.names[name] = true
	}
	all := map[string]bool{}
	for _, secret := range slices.AppendSeq(slices.Clone(l.configured), maps.Keys(l.read)) {
		for _, form := range formsOf(secret) {
			all[form] = true
		}
	}
	for form := range all {
		start := startOf(form)
		next.starts[start/64] |= 1 << (start % 64)
		next.by[form[0]] = append(next.by[form[0]], form)
	}
	for _, some := range next.by {
		slices.SortFunc(some, func(a, b string) int { return len(b) - len(a) }) // a secret may be a part of another
	}
	l.current.Store(next)
}

// Text returns a text without the secrets, in all forms that Values hides.
func (l *List) Text(text string) string {
	if l == nil {
		return text
	}
	f := l.current.Load()
	if f == nil {
		return text
	}
	return replace(text, f.find(text))
}

// Label returns the value of a label as Text does. A name stays whole: rules select series by it.
func (l *List) Label(value string) string {
	if l == nil {
		return value
	}
	f := l.current.Load()
	if f == nil || f.names[value] {
		return value
	}
	return replace(value, f.find(value))
}

// find returns where the secrets are in a text.
func (f *forms) find(text string) (found []span) {
	if strings.Contains(text, dots) {
		found = f.cut(text)
	}
	for at := 0; at+1 < len(text); at++ {
		if start := startOf(text[at:]); f.starts[start/64]&(1<<(start%64)) == 0 && text[at] != Hidden[0] {
			continue
		}
		for _, form := range f.by[text[at]] {
			if strings.HasPrefix(text[at:], form) && (len(form) >= minAnywhere || isWord(text, at, at+len(form))) {
				found = append(found, span{at, at + len(form)})
				at += len(form) - 1
				break
			}
		}
		if strings.HasPrefix(text[at:], Hidden) {
			at += len(Hidden) - 1 // the secret may be a part of that word
		}
	}
	return found
}

// cut returns where the beginnings of secrets are in front of dots: a text that was cut may end
// within one.
func (f *forms) cut(text string) (found []span) {
	for end := 0; ; end += len(dots) {
		next := strings.Index(text[end:], dots)
		if next < 0 {
			return found
		}
		end += next
		for from := max(0, end-maxCut); from <= end-minSecret; from++ {
			for _, form := range f.by[text[from]] {
				if strings.HasPrefix(form, text[from:end]) {
					found = append(found, span{from, end})
				}
			}
		}
	}
}

// startOf returns the first two bytes of a text as one number.
func startOf(text string) int { return int(text[0])<<8 | int(text[1]) }

// isWord reports whether neither side of a part of a text is a letter or a digit.
func isWord(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !isLetter(before) && !isLetter(after)
}

func isLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

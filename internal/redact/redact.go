// Package redact takes secrets out of what people are shown: by the names that they
// have, by the form of the text around them, and by what they are known to be.
package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Hidden stands where a secret was.
const Hidden = "<secret>"

// minSecret is the length in bytes from which Secrets takes a text for one. A shorter one
// would be found in texts that have nothing to do with it.
const minSecret = 4

// minLine is that of a text that nothing but its place shows to be secret.
const minLine = 8

// Name says whether what has this name carries a credential: a header, a parameter of a
// query, a variable, an option or a key. Case, dashes, dots and underscores do not count.
// The name of a file is none: it says where the secret is.
func Name(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_. ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	for _, harmless := range []string{"file", "files", "path", "credentialid", "credentialname"} {
		if strings.HasSuffix(plain, harmless) {
			return false
		}
	}
	if slices.Contains([]string{"auth", "pass", "pw", "pwd", "sig"}, plain) {
		return true
	}
	return slices.ContainsFunc([]string{
		"token", "secret", "password", "passwd", "passphrase", "passcode", "apikey", "accesskey", "privatekey",
		"credential", "authorization", "cookie", "sessionid", "signature",
	}, func(part string) bool { return strings.Contains(plain, part) })
}

// Text returns a text without the user information of URLs and without the values in
// name=value whose names Name knows, such as those of a query.
func Text(text string) string { return replace(text, spans(text, false)) }

// Config returns the elements of a list as a configuration has them, or a single value,
// without what their form shows to be secret: what Text hides, headers such as
// "X-Auth-Token: value", options such as "--password value", in one element or in two, and
// "-u user:password". The caller owns the result.
func Config(list []string) []string {
	shown := make([]string, len(list))
	for i := range list {
		shown[i] = replace(list[i], element(list, i))
	}
	return shown
}

// Secrets returns what Config hides, for Values. It leaves out what is too short to be
// told from other texts.
func Secrets(list ...string) []string {
	var found []string
	for i, text := range list {
		for _, s := range element(list, i) {
			secret := text[s.from:s.to]
			found = append(found, secret)
			if plain, err := url.QueryUnescape(secret); err == nil {
				found = append(found, plain)
			}
			for _, word := range strings.FieldsFunc(secret, func(r rune) bool { return r == ' ' || r == ':' }) {
				if len(word) >= minLine { // the password behind a user, the token behind Bearer
					found = append(found, word)
				}
			}
		}
	}
	return distinct(found)
}

// Sent returns, for Values, what may be secret in a text that is sent to a server, and
// that the server may send back: its lines of plain text, what follows AUTH, PASS and LOGIN there, and
// what Secrets finds.
func Sent(text string) []string {
	found := Secrets(text)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) >= minLine && strings.IndexFunc(line, unicode.IsControl) < 0 {
			found = append(found, line)
		}
		if m := login.FindStringSubmatch(line); m != nil {
			found = append(found, m[1])
			found = append(found, strings.Fields(m[1])...)
		}
	}
	return distinct(found)
}

// distinct returns each text once that is long enough.
func distinct(texts []string) []string {
	var all []string
	for _, text := range texts {
		if len(text) >= minSecret && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// Values returns a text without secrets that are known, as they are and as Go, JSON and
// URLs write them. It has to come before any cut, which could leave half a secret.
func Values(text string, secrets []string) string {
	var forms []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		inGo := strconv.Quote(secret)
		forms = append(forms, secret, inGo[1:len(inGo)-1], url.QueryEscape(secret), url.PathEscape(secret))
		if inJSON, err := json.Marshal(secret); err == nil {
			forms = append(forms, string(inJSON[1:len(inJSON)-1]))
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // a secret may be a part of another
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, Hidden)
	}
	return text
}

// Setting returns a text of the configuration without the secrets in it.
func Setting(text string) string { return Config([]string{text})[0] }

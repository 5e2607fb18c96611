// Package redact removes secrets from text: by their names, by the form of the text around
// them, and by their values.
package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Hidden replaces a secret.
const Hidden = "<secret>"

// minSecret is the shortest secret that Secrets returns, in bytes. A shorter one would
// match unrelated text.
const minSecret = 4

// minLine is the same for text that is secret by its position only.
const minLine = 8

// Name reports whether the value of this name is a credential: the name of a header, a
// query parameter, a variable, an option or a key. Case, dashes, dots and underscores are
// ignored. A path of a file is not a credential.
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
// name=value for which Name returns true, such as those of a query.
func Text(text string) string { return replace(text, spans(text, false)) }

// Config returns a copy of a list from a configuration, or of a single value, without
// values that are secret by their form: those that Text hides, headers such as
// "X-Auth-Token: value", options such as "--password value", in one element or in two, and
// "-u user:password".
func Config(list []string) []string {
	shown := make([]string, len(list))
	for i := range list {
		shown[i] = replace(list[i], element(list, i))
	}
	return shown
}

// Secrets returns the values that Config hides, for Values. It leaves out values that are
// too short to be distinct from other text.
func Secrets(list ...string) []string {
	var found []string
	for i, text := range list {
		for _, s := range element(list, i) {
			secret := text[s.from:s.to]
			found = append(found, secret)
			if plain, err := url.QueryUnescape(secret); err == nil {
				found = append(found, plain)
			}
			if _, password, ok := strings.Cut(secret, ":"); ok && strings.HasSuffix(text[:s.from], "://") {
				found = append(found, password)
			}
			for _, word := range strings.FieldsFunc(secret, func(r rune) bool { return r == ' ' || r == ':' }) {
				if len(word) >= minLine { // the password after a user, the token after Bearer
					found = append(found, word)
				}
			}
		}
	}
	return distinct(found)
}

// Sent returns, for Values, the possible secrets in a text that is sent to a server, which
// may send it back: its lines of plain text, the arguments of AUTH, PASS and LOGIN, and
// the values that Secrets returns.
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

// distinct returns the texts of at least minSecret bytes without duplicates.
func distinct(texts []string) []string {
	var all []string
	for _, text := range texts {
		if len(text) >= minSecret && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// Values returns a text without the given secrets, in their plain form and as quoted by
// Go, JSON and URLs. Call it before truncation, which could leave part of a secret.
func Values(text string, secrets []string) string {
	var forms []string
	for _, secret := range secrets {
		if secret != "" {
			forms = append(forms, formsOf(secret)...)
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // a secret may be a part of another
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, Hidden)
	}
	return text
}

// formsOf returns a secret in its plain form and as quoted by Go, JSON and URLs.
func formsOf(secret string) []string {
	goForm := strconv.Quote(secret)
	forms := []string{secret, goForm[1 : len(goForm)-1], url.QueryEscape(secret), url.PathEscape(secret)}
	if jsonForm, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(jsonForm[1:len(jsonForm)-1]))
	}
	return forms
}

// Setting returns a text of the configuration without the secrets in it.
func Setting(text string) string { return Config([]string{text})[0] }

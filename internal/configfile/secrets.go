package configfile

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// minVariable is the length in bytes from which a variable of a script is a secret whatever its
// name is. A shorter one, such as a language, would match in unrelated text.
const minVariable = 8

// plainPath matches a path, which is no secret by itself.
var plainPath = regexp.MustCompile(`^(/[\w.-]+)+/?$`)

// ofFiles matches a path below a key whose values are the places of secrets, such as header_files.
var ofFiles = regexp.MustCompile(`_files(\.|\[|$)`)

// findSecrets sets Secrets and Names.
func (l *Loaded[E]) findSecrets(expanded []expansion) {
	l.Names = l.Config.names()
	f := secretFinder{secretKey: l.kinds.secretKey}
	f.walk(reflect.ValueOf(&l.Config), "", "", false)
	for _, e := range expanded {
		if redact.Name(e.reference) || slices.ContainsFunc(f.places, func(place string) bool { return strings.Contains(place, e.value) }) {
			f.found = append(f.found, e.value)
		}
	}
	l.secretFiles = collectors.Unique(f.files)
	l.Secrets = slices.DeleteFunc(collectors.Unique(f.found), func(secret string) bool { return slices.Contains(l.Names, secret) })
}

// names returns the values of labels that the configuration and its kinds decide.
func (c *Config[E]) names() []string {
	names := c.StateNames()
	for _, col := range c.Collectors {
		name, _, _ := col.Common()
		key, kind := col.Kind()
		names = append(names, name, key)
		if kind == nil || len(col.Problems()) > 0 {
			continue
		}
		for _, metric := range kind.Metrics(name) {
			for _, values := range metric.Labels {
				names = append(names, values...)
			}
		}
	}
	return collectors.Unique(names)
}

// secretFinder finds the secrets in the values of a configuration.
type secretFinder struct {
	// secretKey reports whether the value at a path is secret.
	secretKey func(path, key string) bool
	found     []string
	// places are the values that are hidden as a whole, and may be more than a secret.
	places []string
	// files are the places of secrets that collectors will read.
	files []string
	// texts are all values.
	texts []textAt
}

// textAt is a value at a path.
type textAt struct{ path, text string }

// walk finds the secrets below a value at a path. key is the nearest key, and hide is set below a
// value that is secret as a whole.
func (f *secretFinder) walk(v reflect.Value, path, key string, hide bool) {
	hide = hide || path != "" && f.secretKey(path, key)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			f.walk(v.Elem(), path, key, hide)
		}
	case reflect.Struct:
		f.walkStruct(v, path, key, hide)
	case reflect.Map:
		for _, k := range v.MapKeys() {
			f.walk(v.MapIndex(k), strictyaml.PathKey(path, fmt.Sprint(k)), fmt.Sprint(k), hide)
		}
	case reflect.Slice:
		if list, ok := v.Interface().([]string); ok {
			f.found = append(f.found, redact.Secrets(list...)...)
		}
		for i := range v.Len() {
			f.walk(v.Index(i), strictyaml.PathIndex(path, i), key, hide)
		}
	case reflect.String:
		f.text(v.String(), path, key, hide, v.Type() == reflect.TypeFor[collectors.Secret]())
	}
}

func (f *secretFinder) walkStruct(v reflect.Value, path, key string, hide bool) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case !field.IsExported():
		case options == "inline":
			f.walk(v.Field(i), path, key, hide)
		case name != "" && name != "-":
			f.walk(v.Field(i), strictyaml.PathKey(path, name), name, hide)
		}
	}
}

// text finds the secrets in one text.
func (f *secretFinder) text(text, path, key string, hide, typed bool) {
	file, isFile := strings.CutSuffix(key, "_file")
	if text == "" {
		return
	}
	f.texts = append(f.texts, textAt{path, text})
	switch {
	case ofFiles.MatchString(path), isFile && redact.Name(file):
		f.files = append(f.files, text)
		return
	}
	f.found = append(f.found, redact.Secrets(key+": "+text)...)
	f.found = append(f.found, redact.Secrets(text)...)
	if hide || typed {
		f.places = append(f.places, text)
	}
	if redact.Name(key) || typed && len(text) >= minVariable && !plainPath.MatchString(text) {
		f.found = append(f.found, text)
	}
}

// secretsOfFiles returns the secrets in the files that collectors will read. One that cannot be
// read has none yet: its collector hides it when it reads it.
func (l *Loaded[E]) secretsOfFiles() []string {
	var found []string
	for _, path := range l.secretFiles {
		if data, err := readRegular(path); err == nil {
			found = append(found, strings.TrimSpace(string(data)))
		}
	}
	return found
}

// unexpanded returns a text with references in place of the values that they were replaced by.
func (l *Loaded[E]) unexpanded(text string) string {
	for _, e := range l.expanded {
		for _, form := range e.forms() {
			text = strings.ReplaceAll(text, form[0], form[1])
		}
	}
	return text
}

// mistake returns an error about the value at a path, without its expanded text: one of a parser
// may quote any part of that.
func (l *Loaded[E]) mistake(doc *strictyaml.Document, path, format string, args ...any) *strictyaml.Error {
	e := doc.Errorf(path, format, args...)
	raw, ok := doc.Scalar(path)
	if !ok || !strings.Contains(strings.ReplaceAll(raw, "$${", ""), "${") {
		e.Text = l.unexpanded(e.Text)
		return e
	}
	_, expected, ok := strings.Cut(e.Text, "expected ")
	e.Text = fmt.Sprintf("invalid value, got %q", raw)
	if end := strings.IndexAny(expected, "\"`"); end >= 0 {
		expected = expected[:end]
	}
	if ok && expected != "" {
		e.Text += ": expected " + l.unexpanded(expected)
	}
	return e
}

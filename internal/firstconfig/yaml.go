package firstconfig

import (
	"regexp"
	"strconv"
	"strings"
)

// plain matches texts that need no quotes in a flow mapping.
var plain = regexp.MustCompile(`^[a-zA-Z/][a-zA-Z0-9_./-]*$`)

// quoted returns a text as a value of a configuration, in which it is not expanded.
func quoted(text string) string {
	text = strings.ReplaceAll(text, "${", "$${")
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(text)
	}
	if plain.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

// reference returns a reference to a variable of the environment, whose value is a secret.
func reference(name string) string { return `"${` + name + `}"` }

// flow returns a key and its value.
func flow(key, value string) string { return key + ": " + quoted(value) }

func list(values []string) string {
	all := make([]string, 0, len(values))
	for _, v := range values {
		all = append(all, quoted(v))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// expander replaces ${VAR} by an environment variable and ${file:PATH} by a file's
// text without its last line end. $${ stands for ${ itself.
type expander struct{ from *Sources }

var reference = regexp.MustCompile(`\$?\$\{[^}]*\}`)

func (e *expander) expand(text string) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var failed error
	result := reference.ReplaceAllStringFunc(text, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		value, err := e.resolve(ref[2 : len(ref)-1])
		if err != nil && failed == nil {
			failed = err
		}
		return value
	})
	return result, failed
}

func (e *expander) resolve(name string) (string, error) {
	path, isFile := strings.CutPrefix(name, "file:")
	if !isFile {
		value, ok := os.LookupEnv(name)
		if !ok {
			return "", fmt.Errorf("the environment variable %q is not set", name)
		}
		return value, nil
	}
	data, err := e.from.Read(path)
	if err != nil {
		return "", fmt.Errorf("the file %q of the reference ${file:...}: %w", path, err)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

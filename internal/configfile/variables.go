package configfile

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// expander replaces ${VAR} by an environment variable and ${file:PATH} by a file's
// text without its last line end. $${ stands for ${ itself.
type expander struct {
	from *Sources
	// done are the references that were replaced.
	done []expansion
}

// expansion is a reference such as ${NAME} and the value that replaced it.
type expansion struct{ reference, value string }

// forms returns what stands for the value in a message, and what to write instead. A short value
// would match in unrelated text, and only counts in quotes or in front of what is expected.
func (e expansion) forms() [][2]string {
	quoted := strconv.Quote(e.value)
	if len(e.value) < minExpanded {
		return [][2]string{{quoted, `"` + e.reference + `"`}, {" " + e.value + ": ", " " + e.reference + ": "}}
	}
	return [][2]string{{e.value, e.reference}, {quoted[1 : len(quoted)-1], e.reference}}
}

// minExpanded is the length in bytes from which an expanded value is replaced anywhere.
const minExpanded = 4

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
		e.done = append(e.done, expansion{ref, value})
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

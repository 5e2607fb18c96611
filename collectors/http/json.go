package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/internal/text"
)

// maxJSONShown is how many bytes of a value an error contains.
const maxJSONShown = 60

// jsonScalar returns a value of a configuration as JSON.
func jsonScalar(value any) (string, error) {
	wrong := fmt.Errorf("value %v: expected a string, a number, true, false or null", value)
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", wrong
		}
	case nil, string, bool, int, int64, uint64:
	default:
		return "", wrong
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", wrong
	}
	return string(bytes.TrimSpace(out.Bytes())), nil
}

// jsonAt returns the value at a path in valid JSON. If a name appears twice in an object, the last
// one counts.
func jsonAt(data json.RawMessage, key file.Key) (json.RawMessage, bool) {
	for _, step := range key {
		data = bytes.TrimSpace(data)
		switch {
		case data[0] == '{':
			var entries map[string]json.RawMessage
			if json.Unmarshal(data, &entries) != nil || entries[step.Name] == nil {
				return nil, false
			}
			data = entries[step.Name]
		case data[0] == '[' && step.Index >= 0:
			var items []json.RawMessage
			if json.Unmarshal(data, &items) != nil || step.Index >= len(items) {
				return nil, false
			}
			data = items[step.Index]
		default:
			return nil, false
		}
	}
	return bytes.TrimSpace(data), true
}

// sameScalar reports whether a JSON value equals the expected one, a result of jsonScalar. Escapes
// in strings and the notation of numbers make no difference: 1, 1.0 and 1e0 are equal.
func sameScalar(got json.RawMessage, want string) bool {
	if string(got) == want {
		return true
	}
	if want[0] == '"' && got[0] == '"' {
		var a, b string
		return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && a == b
	}
	return sameNumber(string(got), want)
}

// sameNumber reports whether two different texts are the same number. Two whole numbers are not; a
// float64 could not distinguish large ones.
func sameNumber(a, b string) bool {
	const fraction = ".eE"
	if !strings.ContainsAny(a, fraction) && !strings.ContainsAny(b, fraction) {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// shownJSON returns a value for an error. An object or a list is only named.
func shownJSON(value json.RawMessage) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return text.Short(string(value), maxJSONShown)
}

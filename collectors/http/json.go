package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
)

// maxJSONShown is how many bytes of a value errors show.
const maxJSONShown = 60

// jsonScalar writes a value of a configuration as JSON does.
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

// jsonAt follows a path into valid JSON. Only what lies on the way is kept. Of names that
// appear twice in an object, the last one counts.
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

// sameScalar says whether a JSON value is the one that is expected, which jsonScalar has
// written. Strings are the same whatever is escaped in them, and numbers whatever
// their notation, as 1, 1.0 and 1e0 are.
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

// sameNumber says whether two texts that differ are the same number. Whole numbers are
// not, however many digits they have; a float64 could not tell large ones apart.
func sameNumber(a, b string) bool {
	const fraction = ".eE"
	if !strings.ContainsAny(a, fraction) && !strings.ContainsAny(b, fraction) {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// shownJSON is a value as errors show it: what is an object or a list is only named.
func shownJSON(value json.RawMessage) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return collectors.OneLine(string(value), maxJSONShown)
}

package dashboards

import "bytes"

// markWithin is the size in bytes of the beginning of a file that must contain the mark.
const markWithin = 1024

// Generated reports whether a file was made by this or an older version of "vitals
// generate": it has a comment at its beginning or, in a dashboard, a uid that shows this. In a
// JSON Schema the comment has no quotes.
func Generated(data []byte) bool {
	head := data[:min(len(data), markWithin)]
	return bytes.Contains(head, []byte(`ade by "vitals generate`)) ||
		bytes.Contains(head, []byte(`"Made by vitals generate`)) ||
		bytes.HasPrefix(head, []byte("{\n  \"uid\": \"vitals-"))
}

package dashboards

import "bytes"

// markWithin is how far from its beginning a generated file says that it is one, in bytes.
const markWithin = 1024

// Generated says whether a file was made by "vitals generate", today or by an older
// version: a comment at its beginning says so or, in a dashboard, its uid.
func Generated(data []byte) bool {
	head := data[:min(len(data), markWithin)]
	return bytes.Contains(head, []byte(`ade by "vitals generate`)) ||
		bytes.HasPrefix(head, []byte("{\n  \"uid\": \"vitals-"))
}

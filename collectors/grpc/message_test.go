package grpc

import (
	"bytes"
	"net/http"
	"slices"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

// A response is a status or an error, whatever its bytes are.
func FuzzResponse(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02\x08\x01"))
	f.Add([]byte("\x00\x00\x00\x00\x07\x12\x03abc\x08\x01"))
	f.Add([]byte("\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		message, err := readFrame(bytes.NewReader(body))
		if err != nil || message == nil {
			return
		}
		if len(message) != len(body)-frameHeader || len(message) > maxMessage {
			t.Fatalf("readFrame(%q) = %q, want the whole message", body, message)
		}
		status, err := parseResponse(message)
		if (err == nil) != slices.Contains(servings(), status) {
			t.Fatalf("parseResponse(%q) = %q, %v", message, status, err)
		}
	})
}

func FuzzStatus(f *testing.F) {
	f.Add("12", "unknown%20service")
	f.Add("0", "")
	f.Fuzz(func(t *testing.T, status, message string) {
		code, err := statusOf(http.Header{"Grpc-Status": {status}, "Grpc-Message": {message}})
		if code < 0 || code > maxCode || code != codeOK && err == nil {
			t.Fatalf("statusOf(%q) = %d, %v", status, code, err)
		}
		if err != nil && !slices.Contains(remote.Reasons(), remote.ReasonOf(err)) {
			t.Fatalf("statusOf(%q) = %v without a reason", status, err)
		}
	})
}

package grpchealth_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"google.golang.org/grpc/codes"
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/vitals-health/vitals/internal/grpchealth"
	"github.com/vitals-health/vitals/internal/states"
)

// FuzzMessage sends any bytes as the message of a call. Each call ends with a status.
func FuzzMessage(f *testing.F) {
	for _, body := range []string{"", "\x00\x00", "\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x07\x0a\x05ready", "\x01\x00\x00\x00\x01\x1f", "\x00\x00\x00\x00\x02\x0a\x05", "\x00\xff\xff\xff\xff"} {
		f.Add([]byte(body), "")
		f.Add([]byte(body), "gzip")
	}
	health := grpchealth.New(newSource(map[string]string{"": states.OK, states.Ready: states.Failing}))
	f.Cleanup(health.Close)
	handler := health.Handler(nil)
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		for _, method := range []string{healthgrpc.Health_Check_FullMethodName, healthgrpc.Health_List_FullMethodName} {
			r := httptest.NewRequest(http.MethodPost, method, bytes.NewReader(body))
			r.ProtoMajor = 2
			r.Header.Set("Content-Type", "application/grpc")
			r.Header.Set("Grpc-Encoding", encoding)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if code, err := strconv.Atoi(w.Header().Get("Grpc-Status")); err != nil || code > int(codes.Unauthenticated) {
				t.Errorf("%s of %q: the status is %q, want a code of gRPC", method, body, w.Header().Get("Grpc-Status"))
			}
		}
	})
}

package server_test

import (
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server"
)

func Example() {
	snapshot := &evaluator.Snapshot{
		Generation: 1, At: time.Now(), MaxAge: 5 * time.Second,
		States: []evaluator.State{{Name: "ready", Reason: "no rules"}},
	}
	h := server.New(server.Options{
		Snapshot: func() *evaluator.Snapshot { return snapshot },
	}).Handler()

	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/ready", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 503 no rules
}

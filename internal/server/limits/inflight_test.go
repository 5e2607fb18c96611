package limits_test

import (
	"testing"

	"github.com/vitals-health/vitals/internal/server/limits"
)

func TestInFlight(t *testing.T) {
	bounds := limits.NewInFlight(map[string]int{"/a": 2})
	enter := func(pattern string, want bool) func() {
		t.Helper()
		leave, ok := bounds.Enter(pattern)
		if ok != want {
			t.Errorf("Enter(%s) = %t, want %t", pattern, ok, want)
		}
		return leave
	}
	leave := enter("/a", true)
	enter("/a", true)
	enter("/a", false)
	leave()
	enter("/a", true)
	for range 100 {
		enter("/b", true)
	}
	for pattern, want := range map[string]int{"/a": 2, "/b": 0} {
		if got := bounds.Limit(pattern); got != want {
			t.Errorf("Limit(%s) = %d, want %d", pattern, got, want)
		}
	}
}

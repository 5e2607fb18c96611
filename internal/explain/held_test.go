package explain

import "testing"

func TestHeld(t *testing.T) {
	for seconds, want := range map[float64]string{0: "", 0.5: ", held for 1s more", 180: ", held for 3m more"} {
		if got := held(&Rule{HeldForSeconds: seconds}); got != want {
			t.Errorf("held() of %v s = %q, want %q", seconds, got, want)
		}
	}
}

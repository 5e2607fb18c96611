package window_test

import (
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/window"
)

func TestWhoExportsASeries(t *testing.T) {
	w := window.New()
	w.SetRetention(nil, time.Hour)
	a, b := w.Source(), w.Source()
	write(t, a, 10, 1, "x", "y")
	write(t, b, 20, 1, "y")
	for _, tt := range []struct {
		series string
		a, b   bool
	}{{"x", true, false}, {"y", true, true}, {"z", false, false}} {
		if got := [2]bool{a.Exports(up(tt.series)), b.Exports(up(tt.series))}; got != [2]bool{tt.a, tt.b} {
			t.Errorf("Exports(%s) of the two sources = %v, want %t and %t", tt.series, got, tt.a, tt.b)
		}
	}
	write(t, a, 30, 1, "y")
	if a.Exports(up("x")) {
		t.Error("Exports(x) = true, want false: the last batch had none")
	}
	b.Stale(40)
	if b.Exports(up("y")) || !a.Exports(up("y")) {
		t.Error("Exports(y) = true for a source that was closed, or false for the other one")
	}
}

func TestNewestSample(t *testing.T) {
	w := window.New()
	w.SetRetention(nil, time.Hour)
	a := w.Source()
	write(t, a, 10, 1, "x")
	write(t, a, 20, 1, "x")
	for _, tt := range []struct {
		series           string
		mint, maxt, want int64
	}{
		{"x", 0, 100, 20}, {"x", 0, 20, 20}, {"x", 0, 19, 10}, {"x", 9, 19, 10},
		{"x", 10, 19, 0}, {"x", 20, 100, 0}, {"x", 0, 9, 0}, {"y", 0, 100, 0},
	} {
		if got, ok := w.Newest(up(tt.series), tt.mint, tt.maxt); got != tt.want || ok != (tt.want != 0) {
			t.Errorf("Newest(%s) in (%d, %d] = %d, %t, want %d", tt.series, tt.mint, tt.maxt, got, ok, tt.want)
		}
	}
}

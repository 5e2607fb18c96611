package budget_test

import (
	"errors"
	"testing"

	"github.com/vitals-health/vitals/internal/budget"
)

// growAll grows an account until it is refused.
func growAll(t *testing.T, a *budget.Account, step int64) {
	t.Helper()
	for range 10_000 {
		if err := a.Grow(step); err != nil {
			if !errors.Is(err, budget.ErrExceeded) {
				t.Fatalf("Grow() = %v, want ErrExceeded", err)
			}
			return
		}
	}
	t.Fatal("the account grew without end")
}

func TestAnAccountHoldsAtMostWhatIsFree(t *testing.T) {
	b := budget.New(1000)
	hogs := []*budget.Account{b.Account(), b.Account(), b.Account()}
	small := b.Account()
	for i, want := range []int64{500, 667, 750} { // 1/2, 2/3, 3/4
		for range 50 { // in turns, as the first ones shrink while others grow
			for _, hog := range hogs[:i+1] {
				hog.Add(-min(hog.Used(), 20))
				growAll(t, hog, 1)
			}
		}
		if used := b.Used(); used < want-10 || used > want+10 {
			t.Errorf("%d accounts that grow without end hold %d, want about %d", i+1, used, want)
		}
	}
	if err := small.Grow(200); err != nil {
		t.Errorf("Grow() of another account = %v, want room for it", err)
	}
	if err := small.Grow(60); err == nil {
		t.Error("Grow() beyond what is free succeeded, want an error")
	}
	if used := small.Used(); used != 200 {
		t.Errorf("Used() after a refusal = %d, want 200", used)
	}
}

func TestClosedAccountReturnsItsBytes(t *testing.T) {
	b := budget.New(1000)
	a := b.Account()
	a.Add(900) // beyond what Grow allows
	a.Close()
	a.Add(50)
	if err := a.Grow(50); err != nil || b.Used() != 0 || a.Used() != 0 {
		t.Errorf("after Close: Grow() = %v, %d and %d used, want nothing counted", err, b.Used(), a.Used())
	}
}

func TestWithoutBudgetNothingIsLimited(t *testing.T) {
	var b *budget.Budget
	a := b.Account()
	a.Add(1 << 60)
	if err := a.Grow(1 << 60); err != nil || a.Used() != 0 {
		t.Errorf("Grow() = %v, Used() = %d, want neither a limit nor a count", err, a.Used())
	}
	a.Close()
}

func TestTheErrorNamesTheNumbers(t *testing.T) {
	a := budget.New(4 << 20).Account()
	a.Add(3 << 20 / 2)
	const want = "not enough memory: 1.5MiB held here, 1.5MiB by all, and 4.0MiB is the limit of all; no part may hold more than is free"
	if err := a.Grow(2 << 20); err == nil || err.Error() != want {
		t.Errorf("Grow() = %v, want %s", err, want)
	}
}

// Package budget bounds the memory that input from other programs takes: that of the
// series which are kept, and that of the answers which are being parsed.
package budget

import (
	"errors"
	"fmt"
	"sync"
)

// ErrExceeded is the error of Account.Grow and Reader.Read when a budget has no room.
var ErrExceeded = errors.New("not enough memory")

// Budget is memory that accounts share. An account may hold at most as many bytes as are
// free: one that grows without end gets half of what the others leave, and the other half
// stays free for those that hold less. Its methods are safe for concurrent use.
//
// The rule is that of Choudhury and Hahne, "Dynamic queue length thresholds for
// shared-memory packet switches", 1998, with a factor of 1.
type Budget struct {
	limit int64

	mu   sync.Mutex
	used int64
}

// New returns a budget of limit bytes.
func New(limit int64) *Budget { return &Budget{limit: limit} }

// Limit returns the size of the budget in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns what all accounts hold, in bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Account returns a new account, which holds nothing. A nil Budget returns a nil Account.
func (b *Budget) Account() *Account {
	if b == nil {
		return nil
	}
	return &Account{budget: b}
}

// Account is what one part of the program holds. A nil Account has no limit and counts
// nothing. Its methods are safe for concurrent use.
type Account struct {
	budget *Budget
	// used and closed are guarded by budget.mu.
	used   int64
	closed bool
}

// Grow adds n bytes, or returns an error that wraps ErrExceeded and adds none.
func (a *Account) Grow(n int64) error {
	if a == nil {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.used+n > b.limit-b.used {
		return fmt.Errorf("%w: %s held here, %s by all, and %s is the limit of all; no part may hold more than is free", ErrExceeded, size(a.used), size(b.used), size(b.limit))
	}
	a.addLocked(n)
	return nil
}

// Add adds n bytes, which may be negative, without regard to the limit.
func (a *Account) Add(n int64) {
	if a == nil {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.addLocked(n)
}

func (a *Account) addLocked(n int64) {
	if !a.closed {
		a.used += n
		a.budget.used += n
	}
}

// Used returns what the account holds, in bytes.
func (a *Account) Used() int64 {
	if a == nil {
		return 0
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.used
}

// Close returns all bytes to the budget. Later changes of the account count nothing.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.addLocked(-a.used)
	a.closed = true
}

// size returns a number of bytes as text.
func size(bytes int64) string {
	const mebibyte = 1 << 20
	if bytes < mebibyte {
		return fmt.Sprintf("%dKiB", (bytes+1023)/1024)
	}
	return fmt.Sprintf("%.1fMiB", float64(bytes)/mebibyte)
}

package evaluator

import "time"

const (
	// viewTime bounds the use of all Views in an interval of viewInterval: results of collections and
	// reports wait that long.
	viewTime = 250 * time.Millisecond
	// leastViewTime is what a View gets at least. With less left, it waits for the next
	// interval: an explanation that is cut short is of no use.
	leastViewTime = viewTime / 2
	// viewInterval is the interval of the budget, whatever that of the evaluation: a quarter
	// of the loop's time is for Views.
	viewInterval = time.Second
)

// viewBudget is the time that all Views have together in an interval. It begins with the
// first View. The zero value has all of it.
type viewBudget struct {
	spent time.Duration
	// over fires at the end of the interval; nil while nothing is spent.
	over <-chan time.Time
}

// begin begins the interval unless one is running, and returns what is left of the time.
func (b *viewBudget) begin() time.Duration {
	if b.over == nil {
		b.over = time.After(viewInterval)
	}
	return viewTime - b.spent
}

// open reports whether another View may begin.
func (b *viewBudget) open() bool { return viewTime-b.spent >= leastViewTime }

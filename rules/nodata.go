package rules

import (
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// NoData is the policy of a rule without data: one of the constants, or NoDataHold with a
// duration, such as "hold 5m". The zero value selects the policy of the state.
type NoData string

// The policies for missing data.
const (
	// NoDataFail makes the state fail.
	NoDataFail NoData = "fail"
	// NoDataPass makes the state pass.
	NoDataPass NoData = "pass"
	// NoDataHold keeps the last verdict of the rule. With a duration it does so for at most
	// so long after the data ended, and then makes the state fail.
	NoDataHold NoData = "hold"
)

// NoDataExpected describes the valid policies, for messages.
const NoDataExpected = "fail, pass, hold or a hold with an end, such as hold 5m"

// Valid reports whether n is a policy. The zero value is none.
func (n NoData) Valid() bool {
	switch n {
	case NoDataFail, NoDataPass, NoDataHold:
		return true
	}
	_, ok := n.holdEnd()
	return ok
}

// Kind returns the policy without its duration.
func (n NoData) Kind() NoData {
	if _, ok := n.holdEnd(); ok {
		return NoDataHold
	}
	return n
}

// HoldsFor returns for how long a hold keeps the last verdict; 0 means without an end. ok
// is false for other policies.
func (n NoData) HoldsFor() (d time.Duration, ok bool) {
	if n == NoDataHold {
		return 0, true
	}
	return n.holdEnd()
}

// holdEnd returns the duration of a hold with an end.
func (n NoData) holdEnd() (time.Duration, bool) {
	text, ok := strings.CutPrefix(string(n), string(NoDataHold)+" ")
	if !ok {
		return 0, false
	}
	d, err := model.ParseDuration(strings.TrimSpace(text))
	return time.Duration(d), err == nil && d > 0
}

package lint_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/rules/lint"
)

// Every check has a description of one sentence.
func TestChecksAreDescribed(t *testing.T) {
	codes := lint.Codes()
	if len(codes) != len(lint.Checks()) {
		t.Errorf("%d checks have %d codes, want one for each", len(lint.Checks()), len(codes))
	}
	for _, c := range lint.Checks() {
		if codes[c.Code] != c.Name || !strings.HasSuffix(c.Text, ".") {
			t.Errorf("check %+v, want the name %q and a sentence", c, codes[c.Code])
		}
	}
}

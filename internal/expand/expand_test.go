package expand_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/expand"
)

func TestTextWithoutActionsIsReturnedAsItIs(t *testing.T) {
	text := strings.Repeat("Keystone does not answer. ", 5000)
	tmpl, err := expand.Parse(nil, "x", text)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	allocs := testing.AllocsPerRun(10, func() { got, err = tmpl.Expand(context.Background(), expand.Data{}, nil) })
	if got != text || err != nil || allocs != 0 {
		t.Errorf("Expand() = %d bytes, %v, %v allocations, want %d, nil, 0", len(got), err, allocs, len(text))
	}
	if tmpl.Dynamic() || tmpl.Constants() != nil || tmpl.Queries() != nil {
		t.Errorf("Dynamic(), Constants(), Queries() = %t, %q, %q, want false, nil, nil", tmpl.Dynamic(), tmpl.Constants(), tmpl.Queries())
	}
}

// Text with an action is never shown as it is.
func TestActionsNeedAParser(t *testing.T) {
	for _, text := range []string{"{{ $value }}", "a {{", "{{/* comment */}}"} {
		if tmpl, err := expand.Parse(nil, "x", text); tmpl != nil || !errors.Is(err, expand.ErrNoParser) {
			t.Errorf("Parse(%q) = %v, %v, want nil, ErrNoParser", text, tmpl, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	got, want := expand.ErrorText(errors.New("boom")), "<error expanding template: boom>"
	if got != want {
		t.Errorf("ErrorText() = %q, want %q", got, want)
	}
}

package evaluator

import (
	"testing"
	"time"
)

func TestWorstStatuses(t *testing.T) {
	at := func(s time.Duration) time.Time { return epoch.Add(s * time.Second) }
	tests := []struct {
		name  string
		rules []Rule
		want  statusSince
	}{
		{"one rule", []Rule{{Status: OK, Since: at(3)}}, statusSince{OK, at(3)}},
		{"the worse one is younger", []Rule{{Status: OK, Since: at(3)}, {Status: Pending, Since: at(9)}}, statusSince{Pending, at(9)}},
		{"the worse one stands first", []Rule{{Status: Failing, Since: at(9)}, {Status: Unknown, Since: at(3)}}, statusSince{Failing, at(9)}},
		{"unknown is worse than pending", []Rule{{Status: Pending, Since: at(3)}, {Status: Unknown, Since: at(9)}}, statusSince{Unknown, at(9)}},
		{"as bad, the earliest", []Rule{{Status: Failing, Since: at(5)}, {Status: Failing, Since: at(3)}, {Status: Failing, Since: at(9)}}, statusSince{Failing, at(3)}},
	}
	for _, tt := range tests {
		if got := worstStatuses(tt.rules)[[2]string{}]; got != tt.want {
			t.Errorf("%s: worstStatuses() = %v, want %v", tt.name, got, tt.want)
		}
	}
	apart := worstStatuses([]Rule{{Name: "A", State: Ready, Status: OK}, {Name: "A", State: Alive, Status: Failing}, {Name: "B", State: Ready, Status: Failing}})
	if got := apart[[2]string{"A", Ready}].status; len(apart) != 3 || got != OK {
		t.Errorf("worstStatuses() = %v, want rules of other names and states kept apart", apart)
	}
}

package states_test

import (
	"slices"
	"testing"

	"github.com/vitals-health/vitals/internal/states"
)

func TestNames(t *testing.T) {
	for state, want := range map[string][]string{
		"ready": {"ready", "readyz", "healthz"}, "alive": {"alive", "livez"}, "started": {"started", "startupz"}, "leading": {"leading"},
	} {
		if got := states.Names(state); !slices.Equal(got, want) {
			t.Errorf("Names(%q) = %q, want %q", state, got, want)
		}
	}
}

func TestKubernetes(t *testing.T) {
	for state, want := range map[string]string{"ready": "readyz", "alive": "livez", "started": "startupz", "leading": "leading"} {
		if got := states.Kubernetes(state); got != want {
			t.Errorf("Kubernetes(%q) = %q, want %q", state, got, want)
		}
	}
}

func TestReserved(t *testing.T) {
	for name, want := range map[string]bool{
		"ready": false, "alive": false, "started": false, "leading": false,
		"readyz": true, "healthz": true, "livez": true, "startupz": true, "metrics": true, "api": true, "assets": true, "config": true, "demo": true, "badge": true, "plain": true, "wall": true,
	} {
		if got := states.Reserved(name); got != want {
			t.Errorf("Reserved(%q) = %t, want %t", name, got, want)
		}
	}
}

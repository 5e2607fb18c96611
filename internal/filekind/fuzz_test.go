package filekind_test

import (
	"errors"
	"testing"

	"github.com/vitals-health/vitals/internal/filekind"
)

// FuzzInstead detects the kind of a file that has mistakes.
func FuzzInstead(f *testing.F) {
	for _, data := range []string{"rule_files: [a]\ncollectors: []\n", "groups: []\n", "tests: []", "apiVersion: v1\nkind: Pod\n---\nkind: \"\\0\"\n", "a: &a [*a]", "\xff", "? {}\n: b\n---\n---\n"} {
		f.Add([]byte(data))
	}
	own := []error{errors.New("f.yml:3:4: a mistake")}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, want := range []filekind.Kind{filekind.Config, filekind.Rules, filekind.Tests} {
			got := filekind.Instead("f.yml", data, want, own)
			if len(got) != 1 || got[0] == nil || len(got[0].Error()) > 1024+len(data) {
				t.Errorf("Instead() = %v, want one mistake", got)
			}
			if none := filekind.Instead("f.yml", data, want, nil); len(none) != 0 {
				t.Errorf("Instead() without a mistake = %v", none)
			}
		}
	})
}

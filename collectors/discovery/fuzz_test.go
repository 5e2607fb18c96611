package discovery

import (
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

// A file has targets or an error, and every name that follows from an address can be a label.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"- targets: ['a:1', 'b:2']\n  labels: {name: db}\n", "- targets: [a]\n  labels: {name: db, team: x}\n",
		`[{"targets": ["http://a/?token=b"], "labels": {}}]`, "[]", "", "- targets: {}", "- [", `[{"target": []}]`, "[] []",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, json bool) {
		path := "/t/a.yml"
		if json {
			path = "/t/a.json"
		}
		found, err := parse(path, []byte(text), "web")
		if err != nil && found != nil {
			t.Errorf("parse(%q) = %v, %v, want targets or an error", text, found, err)
		}
		for _, target := range found {
			if target.Address == "" {
				t.Errorf("parse(%q) has a target without an address", text)
			}
			if len(target.Name) > 3*collectors.MaxNote && len(text) < 3*collectors.MaxNote {
				t.Errorf("parse(%q) has a name of %d bytes", text, len(target.Name))
			}
		}
	})
}

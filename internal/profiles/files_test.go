package profiles

import (
	"testing"

	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
)

// Text in a value that has the form of a reference is not expanded.
func TestMadeConfigKeepsDollars(t *testing.T) {
	f := &file.Config{Path: "/${HOME}/$${x}"}
	f.SetDefaults()
	entry := kinds.Config{Name: "f", Kinds: kinds.Kinds{File: f}}
	entry.SetDefaults()
	text, err := Profile{Name: "tripleo"}.madeConfig(&config.Config{Collectors: []kinds.Config{entry}})
	if err != nil {
		t.Fatal(err)
	}
	l, errs := config.Load(config.NewSources(), "vitals.yml", []byte(text), nil)
	if len(errs) > 0 || len(l.Config.Collectors) != 1 || l.Config.Collectors[0].File.Path != f.Path {
		t.Errorf("load(%s) = %+v, %v, want the path %s", text, l.Config.Collectors, errs, f.Path)
	}
}

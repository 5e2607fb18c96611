package firstrules

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
)

// Each file of rules belongs to a kind, and decodes.
func TestTemplates(t *testing.T) {
	files, err := fs.Glob(collectors.FirstRules(), "*/*.rules.yml")
	if err != nil || !slices.Contains(files, "remote/dependency.rules.yml") {
		t.Fatalf("FirstRules = %v, %v, want remote/dependency.rules.yml among them", files, err)
	}
	for _, file := range files {
		_, name, _ := strings.Cut(strings.TrimSuffix(file, ".rules.yml"), "/")
		if name != shared && !slices.Contains(kinds.Names(), name) {
			t.Errorf("%s belongs to no kind, want KIND.rules.yml", file)
		}
		made, err := readTemplate(name)
		if err != nil || len(made) == 0 {
			t.Errorf("%s has the rules %v, %v, want some and no mistake", file, made, err)
		}
		for _, r := range made {
			if !strings.HasPrefix(r.Alert, placeholder) {
				t.Errorf("%s: the name of the rule %s does not begin with %s: those of two collectors would be alike", file, r.Alert, placeholder)
			}
			if cause := r.Annotations["depends_on"]; cause != "" && strings.Contains(r.Expr, "vitals_dependency_failure") {
				t.Errorf("%s: %s depends on %s, want the reason of a failure to be the cause", file, r.Alert, cause)
			}
			for series, values := range r.Test {
				if len(strings.Fields(values)) != 2 {
					t.Errorf("%s: %s: the values of %s are %q, want one with which the rule is ok, and one with which it fails", file, r.Alert, series, values)
				}
			}
		}
	}
}

func TestCamel(t *testing.T) {
	for name, want := range map[string]string{
		"redis": "Redis", "keystone-api": "KeystoneApi", "a.b_c": "ABC", "eth0": "Eth0", "10.0.0.5": "Collector10005", "DB": "DB", "a--b": "AB",
	} {
		if got := camel(name); got != want {
			t.Errorf("camel(%q) = %q, want %q", name, got, want)
		}
	}
}

// The names of two collectors may be alike in camel case: their rules have different names.
func TestUniqueNames(t *testing.T) {
	n := names{"BDown": true}
	down := []rule{{Alert: "NAMEDown"}}
	for _, test := range [][2]string{{"a-b", "AB"}, {"a.b", "AB2"}, {"aB", "AB3"}, {"b", "B2"}, {"b2", "B22"}} {
		if got := n.unique(test[0], down); got != test[1] {
			t.Errorf("unique(%q) = %q, want %q", test[0], got, test[1])
		}
	}
}

func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"plain text":     "plain text",
		"it's":           "it's",
		"a: b":           "'a: b'",
		"a #b":           "'a #b'",
		"{{ $x }} isn't": "'{{ $x }} isn''t'",
		"yes":            "'yes'",
		"10":             "'10'",
		`x{a="b"} == 0`:  `x{a="b"} == 0`,
	} {
		if got := quoted(text); got != want {
			t.Errorf("quoted(%q) = %s, want %s", text, got, want)
		}
	}
}

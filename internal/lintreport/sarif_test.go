package lintreport_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"github.com/vitals-health/vitals/internal/lintreport"
	"github.com/vitals-health/vitals/rules/lint"
)

// log has the properties that the specification of SARIF requires.
type log struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name, InformationURI string
				Rules                []struct {
					ID, Name, HelpURI string
					ShortDescription  struct{ Text string }
					Default           struct{ Level string } `json:"defaultConfiguration"`
				}
			}
		}
		Results []struct {
			RuleID    string
			RuleIndex *int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				Physical struct {
					Artifact struct{ URI string } `json:"artifactLocation"`
					Region   *struct{ StartLine, StartColumn int }
				} `json:"physicalLocation"`
			}
			Suppressions []struct{ Kind, Justification string }
		}
	}
}

func TestSARIF(t *testing.T) {
	var l log
	if err := json.Unmarshal([]byte(write(t, everything(), lintreport.SARIF)), &l); err != nil {
		t.Fatal(err)
	}
	if l.Version != "2.1.0" || len(l.Runs) != 1 {
		t.Fatalf("version %q with %d runs, want 2.1.0 with one", l.Version, len(l.Runs))
	}
	levels := []string{"none", "note", "warning", "error"} // 3.27.10
	driver := l.Runs[0].Tool.Driver
	if len(driver.Rules) != len(lint.Checks()) || !absolute(driver.InformationURI) {
		t.Errorf("driver = %+v, want all %d checks and an absolute informationUri (3.19.17)", driver, len(lint.Checks()))
	}
	for _, r := range driver.Rules {
		if r.ID == "" || r.Name == "" || r.ShortDescription.Text == "" || !absolute(r.HelpURI) || !slices.Contains(levels, r.Default.Level) {
			t.Errorf("rule %+v, want an id, a name, a description, an absolute helpUri (3.49.12) and a level", r)
		}
	}
	for _, r := range l.Runs[0].Results {
		if r.Message.Text == "" || !slices.Contains(levels, r.Level) {
			t.Errorf("result %+v, want a message and a level", r)
		}
		// 3.27.6: the index is that of the rule, or -1 for none.
		if r.RuleIndex == nil || *r.RuleIndex >= 0 && driver.Rules[*r.RuleIndex].ID != r.RuleID {
			t.Errorf("result of %s has the index %v, want that of its rule", r.RuleID, r.RuleIndex)
		}
		for _, at := range r.Locations {
			if _, err := url.Parse(at.Physical.Artifact.URI); err != nil || at.Physical.Artifact.URI == "" {
				t.Errorf("URI %q: %v, want a reference (3.4.3)", at.Physical.Artifact.URI, err)
			}
			if region := at.Physical.Region; region != nil && (region.StartLine < 1 || region.StartColumn < 1) {
				t.Errorf("region %+v, want lines and columns from 1 (3.30.5)", region)
			}
		}
		for _, s := range r.Suppressions {
			if s.Kind != "inSource" || s.Justification == "" {
				t.Errorf("suppression %+v, want one in the source, with its reason (3.35)", s)
			}
		}
	}
}

func absolute(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && u.IsAbs()
}

// Names of files are URI references.
func TestSARIFNames(t *testing.T) {
	for name, want := range map[string]string{
		"rules/my file.yml":        "rules/my%20file.yml",
		"/etc/vitals/rules.yml":    "file:///etc/vitals/rules.yml",
		"builtin:kuryr-controller": "builtin:kuryr-controller",
		"a:b.yml":                  "./a:b.yml",
	} {
		r := lintreport.Report{Findings: []lint.Finding{{Code: "V001", File: name, Line: 1, Col: 1, Text: "x"}}}
		var l log
		if err := json.Unmarshal([]byte(write(t, r, lintreport.SARIF)), &l); err != nil {
			t.Fatal(err)
		}
		if got := l.Runs[0].Results[0].Locations[0].Physical.Artifact.URI; got != want {
			t.Errorf("URI of %s = %s, want %s", name, got, want)
		}
	}
}

package lintreport

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/rules/lint"
)

// The parts of SARIF 2.1.0 that are used; the numbers in the comments are sections of
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool sarifTool `json:"tool"`
		// ColumnKind is the unit of columns.
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct { // 3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct { // 3.49
		ID               string      `json:"id"`
		Name             string      `json:"name"`
		ShortDescription sarifText   `json:"shortDescription"`
		HelpURI          string      `json:"helpUri"`
		Default          sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct { // 3.27
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		// Suppressions are the reasons of an accepted finding.
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct { // 3.28
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct { // 3.29
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct { // 3.30
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct { // 3.35
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// home is the project's URL.
const home = "https://github.com/vitals-health/vitals"

func (r *Report) sarif(w io.Writer) error {
	checks := lint.Checks()
	driver := sarifDriver{Name: "vitals", Version: r.Version, InformationURI: home}
	for _, c := range checks {
		driver.Rules = append(driver.Rules, sarifRule{
			ID: c.Code, Name: c.Name, ShortDescription: sarifText{c.Text},
			HelpURI: home + "/blob/main/docs/reference/lint.md#" + strings.ToLower(c.Code) + "-" + c.Name,
			Default: sarifConfig{level(c.Severity)},
		})
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	for _, f := range r.Findings {
		result := resultOf(f)
		result.RuleIndex = slices.IndexFunc(checks, func(c lint.About) bool { return c.Code == f.Code })
		run.Results = append(run.Results, result)
	}
	return encode(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func resultOf(f lint.Finding) sarifResult {
	text := message(f)
	if f.Cure != "" {
		text += ". Cure: " + f.Cure
	}
	result := sarifResult{RuleID: f.Code, Level: level(f.Severity), Message: sarifText{text}, Locations: []sarifLocation{}}
	if f.File != "" {
		location := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri(f.File)}}}
		if f.Line > 0 {
			location.Physical.Region = &sarifRegion{f.Line, f.Col}
		}
		if f.Where != "" {
			location.Logical = []sarifLogical{{f.Where}}
		}
		result.Locations = append(result.Locations, location)
	}
	if f.Accepted != "" {
		result.Suppressions = []sarifSuppression{{Kind: "inSource", Justification: f.Accepted}}
	}
	return result
}

// level returns SARIF's level for a severity (3.27.10).
func level(s lint.Severity) string {
	if s == lint.Info {
		return "note"
	}
	return s.String()
}

// uri returns the name of a file as a URI reference, relative to the working directory or
// absolute. The name of a shipped file is a URI already.
func uri(name string) string {
	if strings.HasPrefix(name, "builtin:") {
		return name
	}
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}

package lintreport

import (
	"encoding/json"
	"io"
)

// finding is a finding in JSON. Accepted is always present, and empty for a finding that is
// not accepted.
type finding struct {
	Code     string `json:"code"`
	Name     string `json:"name"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	// Line and Col are 0 for a file that cannot be read.
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Where    string `json:"where"`
	Text     string `json:"text"`
	Cure     string `json:"cure"`
	Accepted string `json:"accepted"`
}

func (r *Report) json(w io.Writer) error {
	all := []finding{}
	for _, f := range r.Findings {
		all = append(all, finding{f.Code, f.Name, f.Severity.String(), f.File, f.Line, f.Col, f.Where, f.Text, f.Cure, f.Accepted})
	}
	return encode(w, all)
}

// encode writes readable JSON: indented, without escaped angle brackets.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

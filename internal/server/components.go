package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/server/access"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// maxReport bounds a report's body. Its reason is one short sentence.
const maxReport = 4 << 10

// report is the body of PUT /api/v1/components/NAME. Omitted fields keep their value.
type report struct {
	Alive  *bool              `json:"alive"`
	Ready  *bool              `json:"ready"`
	Reason string             `json:"reason"`
	Events []collectors.Event `json:"events"`
}

// ComponentsOf returns the states of components for Options.Components. clean removes the secrets
// of a text.
func ComponentsOf(all []collectors.ComponentStatus, clean func(string) string) []ComponentStatus {
	var shown []ComponentStatus
	for _, c := range all {
		s := ComponentStatus{Name: c.Name, Alive: c.Alive, Ready: c.Ready, Reason: clean(c.Reason), LastReport: c.LastReport}
		for _, e := range c.Events {
			s.Events = append(s.Events, EventStatus(e))
		}
		shown = append(shown, s)
	}
	return shown
}

// component serves PUT /api/v1/components/NAME.
func (s *Server) component(w http.ResponseWriter, r *http.Request, name string, mayWrite func(*http.Request) error) {
	if r.Method != http.MethodPut {
		reply.NotAllowed(w, r, http.MethodPut)
		return
	}
	if s.opts.Report == nil || name == "" || strings.Contains(name, "/") {
		reply.Sentence(w, http.StatusNotFound, "no component at this path: components report to "+pathComponents+"NAME, if the configuration has a components collector")
		return
	}
	if !s.mayChange(w, r, mayWrite, access.Token{Noun: "reports", Key: "server.component_token", Value: s.opts.ReportToken}) {
		return
	}
	if !validComponent(name) {
		reply.Sentence(w, http.StatusBadRequest, "invalid name of a component: expected 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends")
		return
	}
	rep, code, err := readReport(w, r)
	if err != nil {
		reply.Sentence(w, code, text.Line(err.Error(), maxLine))
		return
	}
	s.takeReport(w, name, rep)
}

// mayChange reports whether a client may send the requests of the token. If not, it responds.
func (s *Server) mayChange(w http.ResponseWriter, r *http.Request, mayWrite func(*http.Request) error, needs access.Token) bool {
	refused := s.guard.Refusal(r, mayWrite, needs)
	if refused == nil {
		return true
	}
	if refused.Code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="vitals"`)
	}
	reply.Sentence(w, refused.Code, text.Line(refused.Text, maxLine))
	return false
}

// validComponent reports whether a configuration can contain a component of this name.
func validComponent(name string) bool {
	alnum := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
	if name == "" || len(name) > 63 || !alnum(name[0]) || !alnum(name[len(name)-1]) {
		return false
	}
	for i := range len(name) {
		if !alnum(name[i]) && strings.IndexByte("._-", name[i]) < 0 {
			return false
		}
	}
	return true
}

// readReport decodes the body of a report.
func readReport(w http.ResponseWriter, r *http.Request) (collectors.Report, int, error) {
	var in report
	code, err := readJSON(w, r, &in, "report", `{"alive": true, "ready": false, "reason": "..."}`)
	return collectors.Report{Alive: in.Alive, Ready: in.Ready, Reason: in.Reason, Events: in.Events}, code, err
}

// readJSON decodes a body strictly. It does not read the rest of a body that is too long;
// the connection is closed instead. The noun and the example are for the error.
func readJSON(w http.ResponseWriter, r *http.Request, into any, noun, example string) (int, error) {
	tooLong := fmt.Errorf("the %s is longer than %d bytes", noun, maxReport)
	if r.ContentLength > maxReport {
		w.Header().Set("Connection", "close")
		return http.StatusRequestEntityTooLarge, tooLong
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxReport+1))
	if err != nil {
		w.Header().Set("Connection", "close")
		return http.StatusBadRequest, fmt.Errorf("read %s: %w", noun, err)
	}
	if len(body) > maxReport {
		w.Header().Set("Connection", "close")
		return http.StatusRequestEntityTooLarge, tooLong
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return http.StatusBadRequest, fmt.Errorf("read %s: %w: expected JSON such as %s", noun, err, example)
	}
	if _, err := d.Token(); err != io.EOF {
		return http.StatusBadRequest, fmt.Errorf("read %s: expected one JSON object and nothing after it", noun)
	}
	return 0, nil
}

// takeReport passes the report on and responds with the result.
func (s *Server) takeReport(w http.ResponseWriter, name string, rep collectors.Report) {
	switch err := s.opts.Report(name, rep); {
	case err == nil:
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, collectors.ErrUnknownComponent):
		reply.Sentence(w, http.StatusNotFound, text.Line(err.Error(), maxLine)+": no components collector expects "+name)
	case errors.Is(err, collectors.ErrInvalidReport):
		reply.Sentence(w, http.StatusBadRequest, text.Line(err.Error(), maxLine))
	default:
		s.opts.Logger.Warn("take component report", "component", name, "err", err)
		reply.Sentence(w, http.StatusInternalServerError, text.Line(err.Error(), maxLine))
	}
}

package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/server/access"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// Overrides begins and ends silences and maintenance, as evaluator.Evaluator does.
type Overrides interface {
	BeginOverride(o evaluator.Override, d time.Duration) (evaluator.Override, error)
	EndOverride(rule, state, by string) error
}

// OverrideRequest is the body of PUT /api/v1/silences/RULE and PUT /api/v1/maintenance/STATE.
type OverrideRequest struct {
	// For is how long it lasts, such as 2h or 1d; empty for maintenance without an end.
	For string `json:"for,omitempty"`
	// State limits a silence to the rules of a state.
	State  string `json:"state,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// notStored is the warning of a change that the storage does not have yet.
const notStored = "not stored yet: the end of the process loses this change"

// Unstored is the body of the answer to DELETE while the storage does not have the change.
type Unstored struct {
	// Warning is set while the storage does not have the change, which the end of the process loses.
	Warning string `json:"warning,omitempty"`
}

// BegunOverride is the body of the answer to PUT of a silence or of maintenance.
type BegunOverride struct {
	evaluator.Override
	Unstored
}

// SilenceList is the body of GET /api/v1/silences.
type SilenceList struct {
	Silences []evaluator.Override `json:"silences"`
}

// MaintenanceList is the body of GET /api/v1/maintenance.
type MaintenanceList struct {
	Maintenance []evaluator.Override `json:"maintenance"`
}

// overridePath is a path of silences or of maintenance.
type overridePath struct {
	// prefix is the path of all, and pattern names one.
	prefix, pattern string
	// of makes the override of a name below the prefix.
	of func(name string) evaluator.Override
	// noun is what the texts call them.
	noun string
}

func overridePaths() []overridePath {
	return []overridePath{
		{pathSilences, pathSilences + "/RULE", func(name string) evaluator.Override { return evaluator.Override{Rule: name} }, "silences"},
		{pathMaintenance, pathMaintenance + "/STATE", func(name string) evaluator.Override { return evaluator.Override{State: name} }, "maintenance requests"},
	}
}

// overridePathOf returns the path that a request is below, and the name that follows.
func overridePathOf(path string) (p overridePath, name string, ok bool) {
	for _, p := range overridePaths() {
		if name, ok := strings.CutPrefix(path, p.prefix+"/"); ok {
			return p, name, true
		}
	}
	return overridePath{}, "", false
}

// listOverrides serves the silences or the maintenance that last.
func (s *Server) listOverrides(maintenance bool) func(http.ResponseWriter, *http.Request, *view) {
	return func(w http.ResponseWriter, r *http.Request, v *view) {
		list := []evaluator.Override{}
		for _, o := range v.snap.Overrides {
			if o.Maintains() == maintenance {
				list = append(list, o)
			}
		}
		if maintenance {
			sendJSON(w, r, reply.Encode(MaintenanceList{list}))
			return
		}
		sendJSON(w, r, reply.Encode(SilenceList{list}))
	}
}

// override serves PUT and DELETE of a silence or of maintenance.
func (s *Server) override(w http.ResponseWriter, r *http.Request, p overridePath, name string, mayWrite func(*http.Request) error) {
	if r.Method != http.MethodPut && r.Method != http.MethodDelete {
		reply.NotAllowed(w, r, http.MethodPut, http.MethodDelete)
		return
	}
	if s.opts.Overrides == nil || name == "" {
		reply.Sentence(w, http.StatusNotFound, "nothing is at this path: expected "+p.pattern)
		return
	}
	if err := s.guard.NotRebound(r); err != nil { // also over the Unix socket, which ssh forwards to browsers
		reply.Sentence(w, http.StatusForbidden, err.Error())
		return
	}
	if !s.mayChange(w, r, mayWrite, access.Token{Noun: p.noun, Key: "server.operator_token", Value: s.opts.OperatorToken}) {
		return
	}
	o := p.of(name)
	o.By = access.Client(r)
	var err error
	if r.Method == http.MethodDelete {
		if !o.Maintains() {
			o.State = r.URL.Query().Get("state")
		}
		err = s.opts.Overrides.EndOverride(o.Rule, o.State, o.By)
	} else {
		var d time.Duration
		var code int
		if d, code, err = readOverride(w, r, &o); err != nil {
			reply.Sentence(w, code, text.Line(err.Error(), maxLine))
			return
		}
		o, err = s.opts.Overrides.BeginOverride(o, d)
	}
	s.sendOverride(w, r, o, err)
}

// sendOverride responds with the outcome of a change, once the storage has it.
func (s *Server) sendOverride(w http.ResponseWriter, r *http.Request, o evaluator.Override, err error) {
	switch refused := (*evaluator.OverrideError)(nil); {
	case errors.As(err, &refused):
		reply.Sentence(w, map[bool]int{true: http.StatusNotFound, false: http.StatusBadRequest}[refused.Missing], text.Line(refused.Text, maxText))
		return
	case err != nil:
		reply.Sentence(w, http.StatusServiceUnavailable, text.Line(err.Error(), maxLine))
		return
	}
	warning := Unstored{}
	if s.opts.Stored != nil && !s.opts.Stored() {
		warning.Warning = notStored
	}
	switch {
	case r.Method == http.MethodPut:
		reply.Send(w, http.StatusOK, "application/json", reply.Encode(BegunOverride{o, warning}))
	case warning.Warning != "":
		reply.Send(w, http.StatusOK, "application/json", reply.Encode(warning))
	default:
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
	}
}

// mayOverride returns how a client may begin and end overrides, as Changes.Overrides has it.
func (s *Server) mayOverride(r *http.Request, mayWrite func(*http.Request) error) string {
	switch {
	case s.opts.Overrides == nil:
		return "denied"
	case mayWrite != nil:
		return text.Either(mayWrite(r) == nil, "allowed", "denied")
	}
	return text.Either(s.opts.OperatorToken() != "", "token", "denied")
}

// readOverride reads the body of a request into an override, and its duration.
func readOverride(w http.ResponseWriter, r *http.Request, o *evaluator.Override) (d time.Duration, code int, err error) {
	var in OverrideRequest
	if code, err := readJSON(w, r, &in, "request", `{"for": "2h", "reason": "..."}`); err != nil {
		return 0, code, err
	}
	if in.For != "" {
		given, err := model.ParseDuration(in.For)
		if err != nil || given == 0 {
			return 0, http.StatusBadRequest, fmt.Errorf("for %.64q: expected a duration such as 30m, 2h or 1d, at most 30d", in.For)
		}
		d = time.Duration(given)
	}
	if in.State != "" {
		if o.Maintains() {
			return 0, http.StatusBadRequest, errors.New("the state of maintenance is in the path")
		}
		o.State = in.State
	}
	o.Reason = in.Reason
	return d, 0, nil
}

// overridePatterns are the patterns of paths with a name.
func overridePatterns() []string {
	var all []string
	for _, p := range overridePaths() {
		all = append(all, p.pattern)
	}
	return all
}

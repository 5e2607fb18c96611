package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxControlBody bounds the body of a POST to the control handler, in bytes.
const maxControlBody = 4 << 10

// Board is something with faults to switch, such as a Cloud.
type Board interface {
	Faults() []Dependency
	// Set returns ErrUnknown for a dependency or a fault that the board does not have.
	Set(dependency, fault string) error
}

// Handler serves the faults of all boards. GET /demo/faults returns what Faults
// returns. POST /demo/faults with {"dependency": D, "fault": F} sets a fault and returns
// 204, or 400 with what is expected. Cross-origin requests get 403, because a browser on
// this host can send them.
func Handler(boards ...Board) http.Handler {
	all := switches(boards)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /demo/faults", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, all.faults())
	})
	mux.HandleFunc("POST /demo/faults", all.switchFault)
	return http.NewCrossOriginProtection().Handler(mux)
}

// switches are the switches of several boards.
type switches []Board

func (s switches) faults() []Dependency {
	var all []Dependency
	for _, b := range s {
		all = append(all, b.Faults()...)
	}
	return all
}

// set sets a fault on the board that has the dependency.
func (s switches) set(dependency, fault string) error {
	var names []string
	for _, b := range s {
		for _, d := range b.Faults() {
			if d.Dependency == dependency {
				return b.Set(dependency, fault)
			}
			names = append(names, d.Dependency)
		}
	}
	return fmt.Errorf("%w dependency %.64q: expected one of %s", ErrUnknown, dependency, strings.Join(names, ", "))
}

func (s switches) switchFault(w http.ResponseWriter, r *http.Request) {
	dependency, fault, err := parseSwitch(http.MaxBytesReader(w, r.Body, maxControlBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	err = s.set(dependency, fault)
	switch {
	case errors.Is(err, ErrUnknown):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func parseSwitch(body io.Reader) (dependency, fault string, err error) {
	var change struct {
		Dependency *string `json:"dependency"`
		Fault      *string `json:"fault"`
	}
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	err = dec.Decode(&change)
	if err == nil && dec.More() {
		err = errors.New("more than one JSON value")
	}
	if err == nil && (change.Dependency == nil || change.Fault == nil) {
		err = errors.New("a field is missing")
	}
	if err != nil {
		return "", "", fmt.Errorf(`read the body: %.200s: expected {"dependency": "...", "fault": "..."}`, err.Error())
	}
	return *change.Dependency, *change.Fault, nil
}

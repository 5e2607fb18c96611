package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxControlBody bounds the body of a POST to the control handler, in bytes.
const maxControlBody = 4 << 10

// Handler serves the switches for people and scripts. GET /demo/faults answers
// what Faults returns; POST /demo/faults takes {"dependency": D, "fault": F} and
// answers 204, or 400 with a sentence that says what is expected. A page of
// another origin is refused with 403, because a browser on this host reaches it.
func (c *Cloud) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /demo/faults", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, c.Faults())
	})
	mux.HandleFunc("POST /demo/faults", c.switchFault)
	return http.NewCrossOriginProtection().Handler(mux)
}

func (c *Cloud) switchFault(w http.ResponseWriter, r *http.Request) {
	dependency, fault, err := parseSwitch(http.MaxBytesReader(w, r.Body, maxControlBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	err = c.Set(dependency, fault)
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

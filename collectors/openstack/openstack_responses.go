package openstack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// otherStatus stands for a status that the API had not when this list was written.
const otherStatus = "other"

// closed returns the status in lower case if it is one of the set, else otherStatus, which is the
// last one of each set.
func closed(status string, set []string) string {
	if status = strings.ToLower(status); slices.Contains(set, status) {
		return status
	}
	return otherStatus
}

// checkResponse is the response to a check: an object with the member key, or without a key any
// object or array.
type checkResponse struct {
	key     string
	content json.RawMessage
}

// UnmarshalJSON keeps the document.
func (c *checkResponse) UnmarshalJSON(text []byte) error {
	c.content = bytes.Clone(text)
	return nil
}

func (c *checkResponse) validate() error {
	if c.key == "" {
		if !composite(c.content) {
			return errors.New("the response is no object and no list")
		}
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(c.content, &members) != nil || !composite(members[c.key]) {
		return fmt.Errorf("the response has no %q", c.key)
	}
	return nil
}

// composite reports whether a value is an object or an array.
func composite(value json.RawMessage) bool {
	return bytes.HasPrefix(value, []byte("{")) || bytes.HasPrefix(value, []byte("["))
}

// process is a kind of process in the list of a service. Its binary is not bounded.
type process struct{ binary, state, status string }

// processStates are the states of a process. Only Designate has a warning.
func processStates() []string { return []string{"up", "down", "warning", otherStatus} }

// processStatuses are whether an operator has disabled the process.
func processStatuses() []string { return []string{"enabled", "disabled"} }

// processList is the list of the processes of a service: "services" of Nova and Cinder (os-services),
// Manila and Heat (services), "conductors" of Ironic, "service_statuses" of Designate.
type processList struct {
	Services []struct {
		Binary string `json:"binary"`
		// State is up or down, and Status enabled or disabled. Heat has no state, and up or
		// down in status.
		State  string `json:"state"`
		Status string `json:"status"`
	} `json:"services"`
	Conductors []struct {
		Alive *bool `json:"alive"`
	} `json:"conductors"`
	Statuses []struct {
		Name   string `json:"service_name"`
		Status string `json:"status"`
	} `json:"service_statuses"`
	// Next is the address of the next page of Ironic, and that in Links of Designate.
	Next  string `json:"next"`
	Links struct {
		Next string `json:"next"`
	} `json:"links"`
}

func (l *processList) validate() error {
	if l.Services == nil && l.Conductors == nil && l.Statuses == nil {
		return errors.New(`the response has no "services", "conductors" or "service_statuses"`)
	}
	if l.Next != "" || l.Links.Next != "" {
		return fmt.Errorf("the service lists only %d processes at once: its limit of a page is less than their number", len(l.Services)+len(l.Conductors)+len(l.Statuses))
	}
	return nil
}

// counts returns the numbers of processes.
func (l *processList) counts() map[process]int {
	const enabled = "enabled"
	counts := map[process]int{}
	for _, s := range l.Services {
		p := process{s.Binary, closed(s.State, processStates()), enabled}
		if s.State == "" {
			p.state = closed(s.Status, processStates())
		} else if s.Status == "disabled" {
			p.status = s.Status
		}
		counts[p]++
	}
	for _, c := range l.Conductors {
		state := otherStatus
		if c.Alive != nil {
			state = map[bool]string{true: "up", false: "down"}[*c.Alive]
		}
		counts[process{"ironic-conductor", state, enabled}]++
	}
	for _, s := range l.Statuses {
		counts[process{s.Name, closed(s.Status, processStates()), enabled}]++
	}
	return counts
}

// amphoraStatuses are the states of an amphora (octavia-lib, constants.py).
func amphoraStatuses() []string {
	return []string{"allocated", "booting", "deleted", "error", "failover_stopped", "pending_create", "pending_delete", "ready", otherStatus}
}

// amphoraList is the response to GET /v2.0/octavia/amphorae.
type amphoraList struct {
	Amphorae []struct {
		Status string `json:"status"`
	} `json:"amphorae"`
	Links []pageLink `json:"amphorae_links"`
}

// pageLink is a link to another page of a list.
type pageLink struct {
	Rel string `json:"rel"`
}

func (l *amphoraList) validate() error {
	if l.Amphorae == nil {
		return errors.New(`the response has no "amphorae"`)
	}
	if slices.Contains(l.Links, pageLink{"next"}) {
		return fmt.Errorf("octavia lists only %d amphorae at once: its pagination_max_limit is less than their number", len(l.Amphorae))
	}
	return nil
}

// counts returns the numbers of amphorae by status.
func (l *amphoraList) counts() map[string]int {
	counts := map[string]int{}
	for _, a := range l.Amphorae {
		counts[closed(a.Status, amphoraStatuses())]++
	}
	return counts
}

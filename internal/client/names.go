package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

const (
	// pathStatus is where the daemon serves its snapshot.
	pathStatus = "api/v1/status"
	// maxStatus is the largest answer, in bytes: far above that of 1,000 rules.
	maxStatus = 8 << 20
)

// Names returns the names of the daemon's states, and those of its rules, sorted. Several rules
// may share a name.
func (d *Daemon) Names(timeout time.Duration) (states, rules []string, err error) {
	status, body, failed := d.Get(pathStatus, nil, "application/json", maxStatus, time.Now().Add(timeout))
	if failed != nil {
		return nil, nil, fmt.Errorf("names of the daemon's rules: %s", failed.Text)
	}
	type named struct {
		Name string `json:"name"`
	}
	var answer struct {
		States []named `json:"states"`
		Rules  []named `json:"rules"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(body) > maxStatus || status != 200 {
		return nil, nil, fmt.Errorf("names of the daemon's rules: status %d is not an answer of the daemon", status)
	}
	names := func(all []named) (list []string) {
		for _, n := range all {
			list = append(list, n.Name)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	return names(answer.States), names(answer.Rules), nil
}

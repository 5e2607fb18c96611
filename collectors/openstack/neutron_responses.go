package openstack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/vitals-health/vitals/collectors"
)

// neutronQuotas is the response to GET /v2.0/quotas/{project}/details.json
// (Networking API v2, "Show quota details for a tenant").
type neutronQuotas struct {
	Quota map[string]neutronQuota `json:"quota"`
}

func (a *neutronQuotas) validate() error {
	if a.Quota == nil {
		return errors.New(`the response has no "quota"`)
	}
	return nil
}

// neutronQuota is the quota of one resource. A negative limit means no limit.
type neutronQuota struct {
	Limit    quotaNumber `json:"limit"`
	Used     quotaNumber `json:"used"`
	Reserved quotaNumber `json:"reserved"`
}

// quotaNumber is a number that Neutron may write as a string, as it does with
// reserved (https://bugs.launchpad.net/neutron/+bug/1918565).
type quotaNumber struct {
	value int64
	known bool
}

// UnmarshalJSON reads a whole number, as a number or as a string; null is unknown.
func (q *quotaNumber) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	value, err := strconv.ParseInt(string(bytes.Trim(text, `"`)), 10, 64)
	if err != nil {
		return errors.New("a quota is not a whole number")
	}
	*q = quotaNumber{value, true}
	return nil
}

// addNeutronQuotas appends the quotas of the resources, and whether each was measured. Without a
// response, quotas is nil. It omits the limit -1 of the API, which means no limit but is a number
// below the usage.
func addNeutronQuotas(b *collectors.Batch, name string, resources []string, quotas map[string]neutronQuota) {
	for _, resource := range resources {
		q := quotas[resource]
		measured := q.Limit.known && q.Used.known && q.Used.value >= 0
		b.Set(neutronQuotaMeasuredMetric, collectors.Number(measured), name, resource)
		if q.Limit.known {
			addNeutronQuota(b, neutronQuotaLimitMetric, q.Limit, name, resource)
			b.Set(neutronQuotaUnlimitedMetric, collectors.Number(q.Limit.value < 0), name, resource)
		}
		addNeutronQuota(b, neutronQuotaUsedMetric, q.Used, name, resource)
		addNeutronQuota(b, neutronQuotaReservedMetric, q.Reserved, name, resource)
	}
}

// addNeutronQuota appends q unless it is unknown or negative.
func addNeutronQuota(b *collectors.Batch, metric *collectors.Def, q quotaNumber, name, resource string) {
	if q.known && q.value >= 0 {
		b.Set(metric, float64(q.value), name, resource)
	}
}

// neutronNetworks is the response to GET /v2.0/networks. Its content is not used.
type neutronNetworks struct {
	Networks json.RawMessage `json:"networks"`
}

func (a *neutronNetworks) validate() error {
	if !bytes.HasPrefix(a.Networks, []byte("[")) {
		return errors.New(`the response has no "networks"`)
	}
	return nil
}

// neutronExtensions is the response to GET /v2.0/extensions.
type neutronExtensions struct {
	Extensions []struct {
		Alias string `json:"alias"`
	} `json:"extensions"`
}

func (a *neutronExtensions) validate() error {
	if a.Extensions == nil {
		return errors.New(`the response has no "extensions"`)
	}
	return nil
}

// has reports whether the extension with this alias is loaded.
func (a *neutronExtensions) has(alias string) bool {
	for _, e := range a.Extensions {
		if e.Alias == alias {
			return true
		}
	}
	return false
}

// neutronAgents is the response to GET /v2.0/agents.
type neutronAgents struct {
	Agents []struct {
		Type  string `json:"agent_type"`
		Alive *bool  `json:"alive"`
	} `json:"agents"`
	Links []struct {
		Rel string `json:"rel"`
	} `json:"agents_links"`
}

func (a *neutronAgents) validate() error {
	if a.Agents == nil {
		return errors.New(`the response has no "agents"`)
	}
	for _, link := range a.Links {
		if link.Rel == "next" {
			return fmt.Errorf("neutron lists only %d agents at once: its pagination_max_limit is less than their number", len(a.Agents))
		}
	}
	return nil
}

// count returns the number of agents of a type, and of those that are alive.
func (a *neutronAgents) count(agentType string) (all, alive int) {
	for _, agent := range a.Agents {
		if agent.Type != agentType {
			continue
		}
		all++
		if agent.Alive != nil && *agent.Alive {
			alive++
		}
	}
	return all, alive
}

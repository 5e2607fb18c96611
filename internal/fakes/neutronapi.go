package fakes

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// networks answers with the two networks, in pages if the request has a limit.
func (n *neutron) networks(w http.ResponseWriter, r *http.Request) {
	ids := []string{"2a4c6e80-1b3d-4f5a-8c7e-9d0b1a2c3e4f", "6b8d0f21-3c5e-4a7b-9d1f-2e4a6c8b0d3f"}
	names := []string{"k8s-pod-net", "k8s-service-net"}
	start := 0
	if i := slices.Index(ids, r.URL.Query().Get("marker")); i >= 0 {
		start = i + 1
	}
	end := len(ids)
	if limit, _ := strconv.ParseUint(r.URL.Query().Get("limit"), 10, 8); limit > 0 {
		end = min(end, start+int(limit))
	}
	list := []any{}
	for i := start; i < end; i++ {
		list = append(list, map[string]any{
			"id": ids[i], "name": names[i], "status": "ACTIVE", "admin_state_up": true, "shared": false,
			"project_id": projectID, "tenant_id": projectID, "mtu": 1450, "subnets": []string{},
		})
	}
	answer := map[string]any{"networks": list}
	if end < len(ids) {
		next := r.URL.Query()
		next.Set("marker", ids[end-1])
		answer["networks_links"] = []any{link("next", n.service.url(), next)}
	}
	writeJSON(w, http.StatusOK, answer)
}

func link(rel, root string, query url.Values) map[string]string {
	return map[string]string{"rel": rel, "href": root + "/v2.0/networks?" + query.Encode()}
}

func (n *neutron) usages() map[string]usage {
	quota := n.quotas.all()
	switch fault, _ := n.service.state(); fault {
	case faultExhaust:
		quota["port"] = usage{Limit: 10, Used: 10}
	case faultLowPorts:
		quota["port"] = usage{Limit: 10, Used: 8}
	}
	return quota
}

// owns reports whether a request is for the token's project. If not, it answers with
// 403, because only an administrator may read other quotas.
func (n *neutron) owns(w http.ResponseWriter, r *http.Request) bool {
	if r.PathValue("project") == projectID {
		return true
	}
	n.deny(w, r, http.StatusForbidden)
	return false
}

func (n *neutron) quota(w http.ResponseWriter, r *http.Request) {
	if !n.owns(w, r) {
		return
	}
	limits := make(map[string]int)
	for name, u := range n.usages() {
		limits[name] = u.Limit
	}
	writeJSON(w, http.StatusOK, map[string]any{"quota": limits})
}

func (n *neutron) quotaDetails(w http.ResponseWriter, r *http.Request) {
	if name := r.PathValue("details"); name != "details" && name != "details.json" {
		n.deny(w, r, http.StatusNotFound)
		return
	}
	if n.owns(w, r) {
		writeJSON(w, http.StatusOK, map[string]any{"quota": n.usages()})
	}
}

func aliases() []string {
	return []string{
		"agent", "allowed-address-pairs", "external-net", "port-security", "provider", "quota_details", "quotas",
		"revision-if-match", "router", "security-group", "standard-attr-tag", "subnet_allocation", "trunk",
	}
}

func (n *neutron) extensions(w http.ResponseWriter, _ *http.Request) {
	list := []any{}
	for _, alias := range aliases() {
		list = append(list, extensionObject(alias))
	}
	writeJSON(w, http.StatusOK, map[string]any{"extensions": list})
}

func (n *neutron) extension(w http.ResponseWriter, r *http.Request) {
	alias := r.PathValue("alias")
	if !slices.Contains(aliases(), alias) {
		writeNeutronError(w, http.StatusNotFound, "ExtensionNotFound", "Extension could not be found.")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"extension": extensionObject(alias)})
}

func extensionObject(alias string) map[string]any {
	return map[string]any{
		"alias": alias, "name": alias, "description": "", "links": []any{}, "updated": "2015-01-01T00:00:00-00:00",
	}
}

func (n *neutron) agents(w http.ResponseWriter, _ *http.Request) {
	now := time.Now().UTC().Format(time.DateTime)
	list := []any{}
	for i, a := range []struct{ kind, binary, host string }{
		{"Open vSwitch agent", "neutron-openvswitch-agent", "node-1"},
		{"Open vSwitch agent", "neutron-openvswitch-agent", "node-2"},
		{"DHCP agent", "neutron-dhcp-agent", "node-1"},
	} {
		list = append(list, map[string]any{
			"id":         "7c9e1a3b-5d7f-4b8a-9c0e-00000000000" + strconv.Itoa(i+1),
			"agent_type": a.kind, "binary": a.binary, "host": a.host, "topic": "N/A",
			"alive": true, "admin_state_up": true, "heartbeat_timestamp": now, "started_at": now, "created_at": now,
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"agents": list})
}

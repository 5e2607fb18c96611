package fakes

import (
	"net/http"
	"slices"
)

// coreVersions answers GET /api.
func (k *kubernetes) coreVersions(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"kind": "APIVersions", "versions": []string{"v1"},
		"serverAddressByClientCIDRs": []any{map[string]string{"clientCIDR": "0.0.0.0/0", "serverAddress": k.service.port.addr}},
	})
}

// groups answers GET /apis.
func (k *kubernetes) groups(w http.ResponseWriter, _ *http.Request) {
	list := []any{groupObject("authorization.k8s.io")}
	var seen []string
	for _, r := range resources() {
		if r.group != "" && k.serves(r) && !slices.Contains(seen, r.group) {
			seen = append(seen, r.group)
			list = append(list, groupObject(r.group))
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": list})
}

// group answers GET /apis/GROUP, which has the preferred version.
func (k *kubernetes) group(w http.ResponseWriter, r *http.Request) {
	for _, res := range resources() {
		if res.group == r.PathValue("group") && k.serves(res) {
			g := groupObject(res.group)
			g["kind"], g["apiVersion"] = "APIGroup", "v1"
			writeJSON(w, http.StatusOK, g)
			return
		}
	}
	noSuchPath(w)
}

// groupObject is an entry of an APIGroupList; every group here has one version.
func groupObject(name string) map[string]any {
	version := map[string]string{"groupVersion": name + "/v1", "version": "v1"}
	return map[string]any{"name": name, "versions": []any{version}, "preferredVersion": version}
}

// resources answers GET /api/v1 and GET /apis/GROUP/VERSION.
func (k *kubernetes) resources(w http.ResponseWriter, r *http.Request) {
	var list []any
	var groupVersion string
	for _, res := range resources() {
		if res.group != r.PathValue("group") || res.version != r.PathValue("version") || !k.serves(res) {
			continue
		}
		groupVersion = res.groupVersion()
		list = append(list, map[string]any{
			"name": res.plural, "kind": res.kind, "namespaced": res.namespace != "",
			"singularName": "", "verbs": []string{"get", "list", "watch"},
		})
	}
	if list == nil {
		noSuchPath(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion, "resources": list,
	})
}

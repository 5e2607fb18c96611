package fakes

import (
	"strconv"
	"strings"
	"time"
)

const (
	kuryrGroup = "openstack.org"
	crdGroup   = "apiextensions.k8s.io"
	accessPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
)

// resource is one kind of object that the Kubernetes API serves.
type resource struct {
	group, version, plural, kind string
	namespace                    string   // of its objects; empty for cluster-scoped ones
	names                        []string // of its objects
	fixed                        bool     // its objects never change
}

// resources lists the served resources: those that a Kuryr controller watches.
func resources() []resource {
	list := []resource{
		{version: "v1", plural: "pods", kind: "Pod", namespace: "default", names: []string{"web-0", "web-1", "web-2"}},
		{version: "v1", plural: "services", kind: "Service", namespace: "default", names: []string{"kubernetes", "web"}},
		{version: "v1", plural: "endpoints", kind: "Endpoints", namespace: "default", names: []string{"kubernetes", "web"}},
		{version: "v1", plural: "nodes", kind: "Node", names: []string{"node-1", "node-2"}},
		{version: "v1", plural: "namespaces", kind: "Namespace", names: []string{"default", "kube-system"}, fixed: true},
		{group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespace: "default", names: []string{"web"}},
	}
	crd := resource{group: crdGroup, version: "v1", plural: "customresourcedefinitions", kind: "CustomResourceDefinition", fixed: true}
	for _, kind := range kuryrKinds() {
		r := resource{group: kuryrGroup, version: "v1", plural: pluralOf(kind), kind: kind, namespace: "default", names: []string{"web"}}
		list = append(list, r)
		crd.names = append(crd.names, r.plural+"."+r.group)
	}
	return append(list, crd)
}

// kuryrKinds are the custom resources that Kuryr defines.
func kuryrKinds() []string {
	return []string{"KuryrNetwork", "KuryrPort", "KuryrLoadBalancer", "KuryrNetworkPolicy"}
}

// pluralOf derives the resource's name from a kind, as Kubernetes does.
func pluralOf(kind string) string {
	name := strings.ToLower(kind)
	if stem, ok := strings.CutSuffix(name, "y"); ok {
		return stem + "ies"
	}
	return name + "s"
}

// groupVersion is the apiVersion of the resource's objects.
func (r resource) groupVersion() string {
	if r.group == "" {
		return r.version
	}
	return r.group + "/" + r.version
}

// path is the path of the resource in all namespaces.
func (r resource) path() string { return pathOf(r.group, r.version, r.plural) }

func pathOf(group, version, plural string) string {
	if group == "" {
		return "/api/" + version + "/" + plural
	}
	return "/apis/" + group + "/" + version + "/" + plural
}

// qualified is the resource's name in messages.
func (r resource) qualified() string {
	if r.group == "" {
		return r.plural
	}
	return r.plural + "." + r.group
}

// object makes one of the resource's objects.
func (r resource) object(name string, created time.Time, version int64) object {
	o := object{
		Kind:       r.kind,
		APIVersion: r.groupVersion(),
		Metadata: metadata{
			Name: name, Namespace: r.namespace, UID: newUUID(),
			ResourceVersion: strconv.FormatInt(version, 10), CreationTimestamp: &created,
		},
	}
	switch r.plural {
	case "pods":
		o.Status = map[string]any{"phase": "Running"}
	case "nodes":
		o.Status = map[string]any{"conditions": []any{condition("Ready", "KubeletReady")}}
	case "customresourcedefinitions":
		o.Spec = crdSpec(name)
		o.Status = map[string]any{"conditions": []any{
			condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted"),
		}}
	}
	return o
}

func condition(kind, reason string) map[string]any {
	return map[string]any{"type": kind, "status": "True", "reason": reason}
}

// crdSpec is the spec of the definition of a custom resource, which is named
// PLURAL.GROUP.
func crdSpec(name string) map[string]any {
	plural, group, _ := strings.Cut(name, ".")
	names := map[string]any{"plural": plural}
	for _, r := range kuryrKinds() {
		if pluralOf(r) == plural {
			names["kind"], names["listKind"], names["singular"] = r, r+"List", strings.ToLower(r)
		}
	}
	return map[string]any{
		"group": group, "scope": "Namespaced", "names": names,
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true}},
	}
}

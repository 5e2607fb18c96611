// Package rbac generates the roles that grant an account of Kubernetes the rights that a
// configuration needs.
package rbac

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
)

// Account is the service account of Vitals, and the name of its roles.
type Account struct{ Name, Namespace, ServiceAccount string }

// needing is a kind that needs rights.
type needing interface{ KubernetesRights() []kubernetes.Right }

// Of returns the rights that collectors of these kinds need.
func Of(kinds []collectors.Kind) []kubernetes.Right {
	var rights []kubernetes.Right
	for _, k := range kinds {
		if n, ok := k.(needing); ok {
			rights = append(rights, n.KubernetesRights()...)
		}
	}
	return rights
}

// Objects returns a manifest that grants rights: a ClusterRole for those in all namespaces, a Role
// in each other namespace, and their bindings. It is empty without rights.
func Objects(rights []kubernetes.Right, to Account) string {
	byNamespace := map[string][]kubernetes.Right{}
	for _, r := range rights {
		everywhere := r
		everywhere.Namespace = ""
		if r.Namespace == "" || !slices.Contains(rights, everywhere) {
			byNamespace[r.Namespace] = append(byNamespace[r.Namespace], r)
		}
	}
	var objects []string
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		objects = append(objects, role(rulesOf(byNamespace[namespace]), namespace, to), binding(namespace, to))
	}
	return strings.Join(objects, "---\n")
}

// rule is one rule of a role.
type rule struct{ group, resources, names, verbs string }

// rulesOf joins rights to rules: resources with the same verbs, and objects of the same resource.
func rulesOf(rights []kubernetes.Right) []rule {
	type object struct{ group, resource, name string }
	verbs := map[object][]string{}
	for _, r := range rights {
		o := object{r.Group, r.Resource, r.Name}
		verbs[o] = append(verbs[o], r.Verb)
	}
	resources, names := map[rule][]string{}, map[rule][]string{}
	for o, v := range verbs {
		if o.name == "" {
			key := rule{group: o.group, verbs: list(v)}
			resources[key] = append(resources[key], o.resource)
		} else {
			key := rule{group: o.group, resources: list([]string{o.resource}), verbs: list(v)}
			names[key] = append(names[key], o.name)
		}
	}
	var rules []rule
	for key, r := range resources {
		key.resources = list(r)
		rules = append(rules, key)
	}
	for key, n := range names {
		key.names = list(n)
		rules = append(rules, key)
	}
	slices.SortFunc(rules, func(a, b rule) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.resources, b.resources), strings.Compare(a.names, b.names))
	})
	return rules
}

// role returns a Role, or a ClusterRole without a namespace.
func role(rules []rule, namespace string, to Account) string {
	var b strings.Builder
	head(&b, "Role", namespace, to)
	b.WriteString("rules:\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "  - apiGroups: [%s]\n    resources: %s\n", quoted(r.group), r.resources)
		if r.names != "" {
			fmt.Fprintf(&b, "    resourceNames: %s\n", r.names)
		}
		fmt.Fprintf(&b, "    verbs: %s\n", r.verbs)
	}
	return b.String()
}

// binding returns the object that binds the role to the account.
func binding(namespace string, to Account) string {
	var b strings.Builder
	head(&b, "RoleBinding", namespace, to)
	fmt.Fprintf(&b, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %sRole\n  name: %s\n", scope(namespace), quoted(to.Name))
	fmt.Fprintf(&b, "subjects:\n  - kind: ServiceAccount\n    name: %s\n    namespace: %s\n", quoted(to.ServiceAccount), quoted(to.Namespace))
	return b.String()
}

func head(b *strings.Builder, kind, namespace string, to Account) {
	fmt.Fprintf(b, "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s%s\nmetadata:\n  name: %s\n", scope(namespace), kind, quoted(to.Name))
	if namespace != "" {
		fmt.Fprintf(b, "  namespace: %s\n", quoted(namespace))
	}
}

// scope returns what the kind of an object begins with.
func scope(namespace string) string {
	if namespace == "" {
		return "Cluster"
	}
	return ""
}

// list returns values as a list in YAML, sorted and each once.
func list(values []string) string {
	var all []string
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		all = append(all, quoted(v))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// plain matches a text that YAML reads as one without quotes, but for words such as true.
var plain = regexp.MustCompile(`^[a-z]([a-z0-9./-]*[a-z0-9])?$`)

// quoted returns a text in YAML.
func quoted(s string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if plain.MatchString(s) && !slices.Contains(words, s) {
		return s
	}
	return strconv.Quote(s)
}

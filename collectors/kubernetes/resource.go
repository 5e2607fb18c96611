package kubernetes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// The names of resources and namespaces are RFC 1123 labels. The names of groups and custom resource
// definitions are RFC 1123 subdomains.
var (
	label     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	version   = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
)

// resource is a resource of the API. The group is empty for the core group.
type resource struct{ group, name string }

// parseResource parses "resource" or "group/resource".
func parseResource(s string) (resource, bool) {
	group, name, grouped := strings.Cut(s, "/")
	if !grouped {
		return resource{name: s}, label.MatchString(s)
	}
	return resource{group, name}, isGroup(group) && label.MatchString(name)
}

// isGroup reports whether a text can be the name of an API group. The API server requires a dot in
// the group of a custom resource definition. Of the built-in groups, five have none.
// Source: k8s.io/apiextensions-apiserver, ValidateCustomResourceDefinition; k8s.io/api, GroupName.
func isGroup(s string) bool {
	dotless := []string{"apps", "autoscaling", "batch", "extensions", "policy"}
	return subdomain.MatchString(s) && strings.Contains(s, ".") || slices.Contains(dotless, s)
}

// resourceProblems checks a resource. The format inNamespace has the keys to write in place of
// NAMESPACE/RESOURCE, with a verb for each of the two.
func resourceProblems(path, s, inNamespace string) []collectors.Problem {
	if _, ok := parseResource(s); ok {
		return nil
	}
	text := "expected RESOURCE or GROUP/RESOURCE in lower case, such as pods or apps/deployments"
	first, rest, _ := strings.Cut(s, "/")
	_, namespaced := parseResource(rest)
	if short := withoutVersion(s); short != "" {
		text = fmt.Sprintf("expected %s, with neither a version nor core", short)
	} else if label.MatchString(first) && slices.Contains(subresources(), rest) {
		text = fmt.Sprintf("%s is a subresource: expected the resource alone, as %s", rest, first)
	} else if label.MatchString(first) && !isGroup(first) && namespaced {
		text = fmt.Sprintf("%q is no API group, such as apps or networking.k8s.io: expected "+inNamespace, first, first, rest)
	}
	return []collectors.Problem{{Path: path, Text: fmt.Sprintf("resource %q: %s", s, text)}}
}

// withoutVersion returns the resource that an API version such as core/v1 or apps/v1 and a resource
// mean, else "".
func withoutVersion(s string) string {
	short := strings.Join(slices.DeleteFunc(strings.Split(s, "/"), func(part string) bool {
		return part == "core" || version.MatchString(part)
	}), "/")
	if _, ok := parseResource(short); ok {
		return short
	}
	return ""
}

// subresources are the subresources of the built-in resources.
func subresources() []string {
	return []string{
		"approval", "attach", "binding", "ephemeralcontainers", "eviction", "exec", "finalize", "log",
		"portforward", "proxy", "resize", "scale", "status", "token",
	}
}

// clusterScoped are the built-in resources that can be watched and are in no namespace. For a path
// with a namespace, the API server responds with 403 or 404, by the rights of the account.
// Source: kubernetes.io/docs/reference/kubernetes-api.
func clusterScoped() []string {
	return []string{
		"namespaces", "nodes", "persistentvolumes",
		"admissionregistration.k8s.io/mutatingadmissionpolicies",
		"admissionregistration.k8s.io/mutatingadmissionpolicybindings",
		"admissionregistration.k8s.io/mutatingwebhookconfigurations",
		"admissionregistration.k8s.io/validatingadmissionpolicies",
		"admissionregistration.k8s.io/validatingadmissionpolicybindings",
		"admissionregistration.k8s.io/validatingwebhookconfigurations",
		"apiextensions.k8s.io/customresourcedefinitions", "apiregistration.k8s.io/apiservices",
		"certificates.k8s.io/certificatesigningrequests",
		"flowcontrol.apiserver.k8s.io/flowschemas", "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
		"networking.k8s.io/ingressclasses", "networking.k8s.io/ipaddresses", "networking.k8s.io/servicecidrs",
		"node.k8s.io/runtimeclasses",
		"rbac.authorization.k8s.io/clusterrolebindings", "rbac.authorization.k8s.io/clusterroles",
		"resource.k8s.io/deviceclasses", "resource.k8s.io/resourceslices",
		"scheduling.k8s.io/priorityclasses",
		"storage.k8s.io/csidrivers", "storage.k8s.io/csinodes", "storage.k8s.io/storageclasses",
		"storage.k8s.io/volumeattachments", "storage.k8s.io/volumeattributesclasses",
	}
}

// namespaceProblems checks the name of a namespace.
func namespaceProblems(path, s string) []collectors.Problem {
	if label.MatchString(s) {
		return nil
	}
	return []collectors.Problem{{Path: path, Text: fmt.Sprintf("namespace %q: expected a name of at most 63 lower-case letters, digits and '-'", s)}}
}

package kubereport

import "github.com/vitals-health/vitals/collectors/kubernetes"

// Rights returns the rights that the reports of a pod in this namespace need.
func (o Options) Rights(namespace string) []kubernetes.Right {
	var rights []kubernetes.Right
	if o.Events {
		rights = append(rights,
			kubernetes.Right{Verb: "create", Resource: "events", Namespace: namespace},
			kubernetes.Right{Verb: "patch", Resource: "events", Namespace: namespace})
	}
	if o.ReadinessGate != "" {
		rights = append(rights, kubernetes.Right{Verb: "patch", Resource: "pods/status", Namespace: namespace})
	}
	if o.NodeCondition != "" {
		rights = append(rights, kubernetes.Right{Verb: "patch", Resource: "nodes/status"})
	}
	return rights
}

package kubereport

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// identity is the pod of this process and its node.
type identity struct{ namespace, pod, uid, node string }

// qualified matches the type of a condition: a name, with or without a domain before it.
// Source: kubernetes.io/docs/concepts/overview/working-with-objects/labels, the syntax of keys.
var qualified = regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// owned are the conditions that Kubernetes itself sets.
// Source: k8s.io/api/core/v1, PodConditionType and NodeConditionType.
func owned() []string {
	return []string{
		"ContainersReady", "Initialized", "Ready", "PodScheduled", "DisruptionTarget", "PodReadyToStartContainers", "PodResizePending", "PodResizeInProgress",
		"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable",
	}
}

func (o Options) nothing() bool { return !o.Events && o.ReadinessGate == "" && o.NodeCondition == "" }

// validate checks the types of the conditions.
func (o Options) validate() error {
	for _, given := range []struct{ flag, kind string }{{"readiness-gate", o.ReadinessGate}, {"node-condition", o.NodeCondition}} {
		switch {
		case given.kind == "":
		case len(given.kind) > 316 || !qualified.MatchString(given.kind):
			return fmt.Errorf("--kubernetes.%s=%.80q: expected a type such as example.com/VitalsReady", given.flag, given.kind)
		case slices.Contains(owned(), given.kind):
			return fmt.Errorf("--kubernetes.%s=%s: Kubernetes itself sets this condition: expected another type, such as example.com/VitalsReady", given.flag, given.kind)
		}
	}
	return nil
}

// identify reads the pod and the node from the variables that the pod's manifest sets. The error
// names those that are missing.
func (o Options) identify(getenv func(string) string) (identity, error) {
	id := identity{getenv("POD_NAMESPACE"), getenv("POD_NAME"), getenv("POD_UID"), getenv("NODE_NAME")}
	var missing []string
	for _, need := range []struct {
		needed      bool
		name, value string
	}{
		{o.Events || o.ReadinessGate != "", "POD_NAME (metadata.name)", id.pod},
		{o.Events || o.ReadinessGate != "", "POD_NAMESPACE (metadata.namespace)", id.namespace},
		{o.Events || o.ReadinessGate != "", "POD_UID (metadata.uid)", id.uid},
		{o.NodeCondition != "", "NODE_NAME (spec.nodeName)", id.node},
	} {
		if need.needed && need.value == "" {
			missing = append(missing, need.name)
		}
	}
	if len(missing) > 0 {
		return id, errors.New("reports to Kubernetes need environment variables of the downward API; missing: " + strings.Join(missing, ", "))
	}
	for _, part := range []struct{ name, value string }{{"POD_NAMESPACE", id.namespace}, {"POD_NAME", id.pod}, {"NODE_NAME", id.node}} {
		if part.value != "" && (len(part.value) > 253 || !subdomain.MatchString(part.value)) {
			return id, fmt.Errorf("%s=%.80q: expected a name of Kubernetes, of lower-case letters, digits, '-' and '.'", part.name, part.value)
		}
	}
	return id, nil
}

// subdomain matches the names of pods, namespaces and nodes.
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

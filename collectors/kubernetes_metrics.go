package collectors

import "github.com/prometheus/common/model"

// kubernetesDescs are the metrics of the kind kubernetes.
func kubernetesDescs() []Desc {
	return append(dependencyDescs(),
		Desc{"vitals_kubernetes_watch_connected", "Whether the watch is open (1) or not (0).", model.MetricTypeGauge},
		Desc{"vitals_kubernetes_watch_last_contact_timestamp_seconds", "When the API server last sent something on the watch, in seconds since the epoch.", model.MetricTypeGauge},
		Desc{"vitals_kubernetes_watch_restarts_total", "How often the watch was opened, or tried, again.", model.MetricTypeCounter},
		Desc{"vitals_kubernetes_watch_failure", "Why the watch is not open: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
		Desc{"vitals_kubernetes_access_allowed", "Whether the account may do this (1) or not (0).", model.MetricTypeGauge},
		Desc{"vitals_kubernetes_crd_present", "Whether the custom resource definition is there and established (1) or not (0).", model.MetricTypeGauge},
		Desc{"vitals_kubernetes_certificate_expiry_timestamp_seconds", "When the API server's certificate expires, in seconds since the epoch.", model.MetricTypeGauge},
		Desc{"vitals_kubernetes_client_certificate_expiry_timestamp_seconds", "When the client certificate expires, in seconds since the epoch.", model.MetricTypeGauge},
	)
}

// Metrics implements Kind.
func (c *KubernetesConfig) Metrics(name string) []Metric {
	var verbs, resources, namespaces []string
	namespaced := false
	for _, a := range c.Access {
		verbs, resources, namespaces = append(verbs, a.Verb), append(resources, a.Resource), append(namespaces, a.Namespace)
		namespaced = namespaced || a.Namespace != ""
	}
	m := newCatalog(kubernetesDescs(), "dependency", name)
	m.dependency()
	m.configured("resource", c.Watch,
		"vitals_kubernetes_watch_connected", "vitals_kubernetes_watch_last_contact_timestamp_seconds",
		"vitals_kubernetes_watch_restarts_total", "vitals_kubernetes_watch_failure")
	m.closed("reason", texts(kubeWatchReasons()), "vitals_kubernetes_watch_failure")
	m.chosen("verb", unique(verbs), kubeVerbs(), "vitals_kubernetes_access_allowed")
	m.configured("resource", unique(resources), "vitals_kubernetes_access_allowed")
	if namespaced || m.any {
		m.configured("namespace", unique(namespaces), "vitals_kubernetes_access_allowed")
	}
	m.configured("crd", c.CRDs, "vitals_kubernetes_crd_present")
	m.bools("vitals_kubernetes_watch_connected", "vitals_kubernetes_watch_failure",
		"vitals_kubernetes_access_allowed", "vitals_kubernetes_crd_present")
	// Without TLS, or with a token in place of a certificate, there is none.
	m.vanishing("vitals_kubernetes_certificate_expiry_timestamp_seconds", "vitals_kubernetes_client_certificate_expiry_timestamp_seconds")
	return m.list()
}

package collectors

// The metrics of the kind kubernetes.
var (
	kubernetesWatchConnectedMetric          = newGauge("vitals_kubernetes_watch_connected", "Whether the watch is open (1) or not (0).", "dependency", "resource")
	kubernetesWatchLastContactMetric        = newGauge("vitals_kubernetes_watch_last_contact_timestamp_seconds", "When the API server last sent something on the watch, in seconds since the epoch.", "dependency", "resource")
	kubernetesWatchRestartsMetric           = newCounter("vitals_kubernetes_watch_restarts_total", "How often the watch was opened, or tried, again.", "dependency", "resource")
	kubernetesWatchFailureMetric            = newGauge("vitals_kubernetes_watch_failure", "Why the watch is not open: 1 for that reason, 0 for all others.", "dependency", "resource", "reason")
	kubernetesAccessAllowedMetric           = newGauge("vitals_kubernetes_access_allowed", "Whether the account may do this (1) or not (0).", "dependency", "verb", "resource", "namespace")
	kubernetesCRDPresentMetric              = newGauge("vitals_kubernetes_crd_present", "Whether the custom resource definition is there and established (1) or not (0).", "dependency", "crd")
	kubernetesCertificateExpiryMetric       = newGauge("vitals_kubernetes_certificate_expiry_timestamp_seconds", "When the API server's certificate expires, in seconds since the epoch.", "dependency")
	kubernetesClientCertificateExpiryMetric = newGauge("vitals_kubernetes_client_certificate_expiry_timestamp_seconds", "When the client certificate expires, in seconds since the epoch.", "dependency")
)

// kubernetesDefs are the metrics of the kind kubernetes.
func kubernetesDefs() []*Def {
	return append(dependencyDefs(),
		kubernetesWatchConnectedMetric,
		kubernetesWatchLastContactMetric,
		kubernetesWatchRestartsMetric,
		kubernetesWatchFailureMetric,
		kubernetesAccessAllowedMetric,
		kubernetesCRDPresentMetric,
		kubernetesCertificateExpiryMetric,
		kubernetesClientCertificateExpiryMetric,
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
	m := newCatalog(kubernetesDefs(), "dependency", name)
	describeDependency(m)
	m.configured("resource", c.Watch,
		kubernetesWatchConnectedMetric, kubernetesWatchLastContactMetric,
		kubernetesWatchRestartsMetric, kubernetesWatchFailureMetric)
	m.closed("reason", texts(kubeWatchReasons()), kubernetesWatchFailureMetric)
	m.chosen("verb", unique(verbs), kubeVerbs(), kubernetesAccessAllowedMetric)
	m.configured("resource", unique(resources), kubernetesAccessAllowedMetric)
	if namespaced || m.any {
		m.configured("namespace", unique(namespaces), kubernetesAccessAllowedMetric)
	}
	m.configured("crd", c.CRDs, kubernetesCRDPresentMetric)
	m.bools(kubernetesWatchConnectedMetric, kubernetesWatchFailureMetric,
		kubernetesAccessAllowedMetric, kubernetesCRDPresentMetric)
	// Without TLS, or with a token in place of a certificate, there is none.
	m.vanishing(kubernetesCertificateExpiryMetric, kubernetesClientCertificateExpiryMetric)
	return m.list()
}

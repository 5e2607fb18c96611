package kubernetes

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The metrics of the kind.
var (
	watchConnectedMetric          = collectors.NewGauge("vitals_kubernetes_watch_connected", "Whether the watch is open (1) or not (0).", "dependency", "resource", "namespace")
	watchLastContactMetric        = collectors.NewGauge("vitals_kubernetes_watch_last_contact_timestamp_seconds", "When the API server last sent data on the watch, in seconds since the epoch.", "dependency", "resource", "namespace")
	watchRestartsMetric           = collectors.NewCounter("vitals_kubernetes_watch_restarts_total", "Attempts to open the watch after the first.", "dependency", "resource", "namespace")
	watchFailureMetric            = collectors.NewGauge("vitals_kubernetes_watch_failure", "Why the watch is not open: 1 for that reason, 0 for all others.", "dependency", "resource", "reason", "namespace")
	accessAllowedMetric           = collectors.NewGauge("vitals_kubernetes_access_allowed", "Whether the account has the right (1) or not (0).", "dependency", "verb", "resource", "namespace")
	crdPresentMetric              = collectors.NewGauge("vitals_kubernetes_crd_present", "Whether the custom resource definition exists and is established (1) or not (0).", "dependency", "crd")
	crdFailureMetric              = collectors.NewGauge("vitals_kubernetes_crd_failure", "Why the custom resource definition could not be read: 1 for that reason, 0 for all others.", "dependency", "crd", "reason")
	certificateExpiryMetric       = collectors.NewGauge("vitals_kubernetes_certificate_expiry_timestamp_seconds", "When the API server's certificate expires, in seconds since the epoch.", "dependency")
	clientCertificateExpiryMetric = collectors.NewGauge("vitals_kubernetes_client_certificate_expiry_timestamp_seconds", "When the client certificate expires, in seconds since the epoch.", "dependency")
)

// defs returns the metrics of the kind.
func defs() []*collectors.Def {
	return append(remote.DependencyDefs(),
		watchConnectedMetric,
		watchLastContactMetric,
		watchRestartsMetric,
		watchFailureMetric,
		accessAllowedMetric,
		crdPresentMetric,
		crdFailureMetric,
		certificateExpiryMetric,
		clientCertificateExpiryMetric,
	)
}

// Metrics implements collectors.Kind.
func (c *Config) Metrics(name string) []collectors.Metric {
	var verbs, resources, namespaces []string
	namespaced := false
	for _, a := range c.Access {
		verbs, resources, namespaces = append(verbs, a.Verb), append(resources, a.Resource), append(namespaces, a.Namespace)
		namespaced = namespaced || a.Namespace != ""
	}
	m := collectors.NewCatalog(defs(), "dependency", name)
	remote.DescribeDependency(m)
	watch := []*collectors.Def{watchConnectedMetric, watchLastContactMetric, watchRestartsMetric, watchFailureMetric}
	m.Configured("resource", c.Watch, watch...)
	if len(c.Namespaces) > 0 || m.Any {
		m.Configured("namespace", c.Namespaces, watch...)
	}
	m.Closed("reason", collectors.Texts(failureReasons()), watchFailureMetric)
	m.Chosen("verb", collectors.Unique(verbs), apiVerbs(), accessAllowedMetric)
	m.Configured("resource", collectors.Unique(resources), accessAllowedMetric)
	if namespaced || m.Any {
		m.Configured("namespace", collectors.Unique(namespaces), accessAllowedMetric)
	}
	m.Configured("crd", c.CRDs, crdPresentMetric, crdFailureMetric)
	m.Closed("reason", collectors.Texts(remote.Reasons()), crdFailureMetric)
	m.Bools(watchConnectedMetric, watchFailureMetric,
		accessAllowedMetric, crdPresentMetric, crdFailureMetric)
	// They are absent without TLS, or with a token in place of a client certificate.
	m.Vanishing(certificateExpiryMetric, clientCertificateExpiryMetric)
	return m.List()
}

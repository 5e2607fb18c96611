package collectors

import "time"

// addRound appends what the kind measures beside the dependency itself.
func (k *kubernetes) addRound(b *batch, r *kubeRound) {
	for i, q := range k.questions {
		if q.entry == nil || r.allowedErr[i] != nil {
			continue
		}
		values := []string{k.name, q.entry.Verb, q.entry.Resource}
		if q.entry.Namespace != "" {
			values = append(values, q.entry.Namespace)
		}
		b.set(kubernetesAccessAllowedMetric, number(r.allowed[i]), values...)
	}
	for i, crd := range k.crds {
		if r.presentErr[i] == nil {
			b.set(kubernetesCRDPresentMetric, number(r.present[i]), k.name, crd.name)
		}
	}
	addKubeTime(b, kubernetesCertificateExpiryMetric, r.ready.expires, k.name)
	addKubeTime(b, kubernetesClientCertificateExpiryMetric, kubeCertificateExpiry(k.config), k.name)
}

// addKubeWatch appends how one watch is doing, once it has been tried.
func addKubeWatch(b *batch, dependency, resource string, s kubeWatchState) {
	if !s.tried {
		return
	}
	b.set(kubernetesWatchConnectedMetric, number(s.connected), dependency, resource)
	addKubeTime(b, kubernetesWatchLastContactMetric, s.contact, dependency, resource)
	b.set(kubernetesWatchRestartsMetric, float64(s.restarts), dependency, resource)
	reason := kubeWatchReason(s.err)
	for _, r := range kubeWatchReasons() {
		b.set(kubernetesWatchFailureMetric, number(r == reason), dependency, resource, string(r))
	}
}

// addKubeTime appends a moment in seconds since the epoch; the zero time is left out.
func addKubeTime(b *batch, metric *Def, at time.Time, values ...string) {
	if !at.IsZero() {
		b.set(metric, float64(at.UnixMilli())/1000, values...)
	}
}

// Describe implements Collector.
func (k *kubernetes) Describe() []Desc { return describe(kubernetesDefs()) }

package collectors

import "time"

// addRound appends what the kind measures beside the dependency itself.
func (k *kubernetes) addRound(b *batch, r *kubeRound) {
	for i, q := range k.questions {
		if q.entry == nil || r.allowedErr[i] != nil {
			continue
		}
		pairs := []string{"dependency", k.name, "verb", q.entry.Verb, "resource", q.entry.Resource}
		if q.entry.Namespace != "" {
			pairs = append(pairs, "namespace", q.entry.Namespace)
		}
		b.add("vitals_kubernetes_access_allowed", number(r.allowed[i]), pairs...)
	}
	for i, crd := range k.crds {
		if r.presentErr[i] == nil {
			b.add("vitals_kubernetes_crd_present", number(r.present[i]), "dependency", k.name, "crd", crd.name)
		}
	}
	b.kubeTime("vitals_kubernetes_certificate_expiry_timestamp_seconds", r.ready.expires, "dependency", k.name)
	b.kubeTime("vitals_kubernetes_client_certificate_expiry_timestamp_seconds", kubeCertificateExpiry(k.config), "dependency", k.name)
}

// kubeWatch appends how one watch is doing, once it has been tried.
func (b *batch) kubeWatch(dependency, resource string, s kubeWatchState) {
	if !s.tried {
		return
	}
	pairs := []string{"dependency", dependency, "resource", resource}
	b.add("vitals_kubernetes_watch_connected", number(s.connected), pairs...)
	b.kubeTime("vitals_kubernetes_watch_last_contact_timestamp_seconds", s.contact, pairs...)
	b.add("vitals_kubernetes_watch_restarts_total", float64(s.restarts), pairs...)
	reason := kubeWatchReason(s.err)
	for _, r := range kubeWatchReasons() {
		b.add("vitals_kubernetes_watch_failure", number(r == reason), append(pairs, "reason", string(r))...)
	}
}

// kubeTime appends a moment in seconds since the epoch; the zero time is left out.
func (b *batch) kubeTime(name string, at time.Time, pairs ...string) {
	if !at.IsZero() {
		b.add(name, float64(at.UnixMilli())/1000, pairs...)
	}
}

// Describe implements Collector.
func (k *kubernetes) Describe() []Desc { return kubernetesDescs() }

package kubernetes

import (
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// addRound appends what the kind measures beside the dependency itself.
func (k *collector) addRound(b *collectors.Batch, r *round) {
	for i, q := range k.questions {
		if q.entry == nil || r.allowedErr[i] != nil {
			continue
		}
		values := []string{k.name, q.entry.Verb, q.entry.Resource}
		if q.entry.Namespace != "" {
			values = append(values, q.entry.Namespace)
		}
		b.Set(accessAllowedMetric, collectors.Number(r.allowed[i]), values...)
	}
	for i, crd := range k.crds {
		if r.presentErr[i] == nil {
			b.Set(crdPresentMetric, collectors.Number(r.present[i]), k.name, crd.name)
		}
	}
	addKubeTime(b, certificateExpiryMetric, r.ready.expires, k.name)
	addKubeTime(b, clientCertificateExpiryMetric, certificateExpiry(k.config), k.name)
}

// addKubeWatch appends how one watch is doing, once it has been tried.
func addKubeWatch(b *collectors.Batch, dependency, resource string, s watchState) {
	if !s.tried {
		return
	}
	b.Set(watchConnectedMetric, collectors.Number(s.connected), dependency, resource)
	addKubeTime(b, watchLastContactMetric, s.contact, dependency, resource)
	b.Set(watchRestartsMetric, float64(s.restarts), dependency, resource)
	reason := watchReason(s.err)
	for _, r := range watchReasons() {
		b.Set(watchFailureMetric, collectors.Number(r == reason), dependency, resource, string(r))
	}
}

// addKubeTime appends a moment in seconds since the epoch; the zero time is left out.
func addKubeTime(b *collectors.Batch, metric *collectors.Def, at time.Time, values ...string) {
	if !at.IsZero() {
		b.Set(metric, float64(at.UnixMilli())/1000, values...)
	}
}

// Describe implements Collector.
func (k *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

package kubernetes

import (
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// addResult appends the samples of access rights, definitions and certificates.
func (c *collector) addResult(b *collectors.Batch, r *result) {
	for i, review := range c.reviews {
		if review.access == nil || r.allowedErr[i] != nil {
			continue
		}
		values := []string{c.name, review.access.Verb, review.access.Resource}
		if review.access.Namespace != "" {
			values = append(values, review.access.Namespace)
		}
		b.Set(accessAllowedMetric, collectors.Number(r.allowed[i]), values...)
	}
	for i, crd := range c.crds {
		if r.presentErr[i] == nil {
			b.Set(crdPresentMetric, collectors.Number(r.present[i]), c.name, crd.name)
		}
		reason := remote.ReasonOf(r.presentErr[i])
		for _, other := range remote.Reasons() {
			b.Set(crdFailureMetric, collectors.Number(other == reason), c.name, crd.name, string(other))
		}
	}
	if at := r.ready.expires; !at.IsZero() {
		b.Set(certificateExpiryMetric, collectors.EpochSeconds(at), c.name)
	}
	if at := certificateExpiry(c.config); !at.IsZero() {
		b.Set(clientCertificateExpiryMetric, collectors.EpochSeconds(at), c.name)
	}
}

// addWatch appends the samples of a watch, unless its first attempt has not ended.
func addWatch(b *collectors.Batch, dependency string, w *watch, now time.Time) {
	s := w.snapshot()
	if !s.tried {
		return
	}
	set := func(d *collectors.Def, value float64, labels ...string) {
		if w.namespace != "" {
			labels = append(labels, w.namespace)
		}
		b.Set(d, value, append([]string{dependency, w.resource}, labels...)...)
	}
	set(watchConnectedMetric, collectors.Number(s.connected))
	if !s.contact.IsZero() {
		set(watchLastContactMetric, collectors.EpochSeconds(collectors.OnClock(now, s.contact)))
	}
	set(watchRestartsMetric, float64(s.restarts))
	reason := watchReason(s.err)
	for _, r := range failureReasons() {
		set(watchFailureMetric, collectors.Number(r == reason), string(r))
	}
}

// Describe implements collectors.Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

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
func addWatch(b *collectors.Batch, dependency, resource string, s watchState, now time.Time) {
	if !s.tried {
		return
	}
	b.Set(watchConnectedMetric, collectors.Number(s.connected), dependency, resource)
	if !s.contact.IsZero() {
		b.Set(watchLastContactMetric, collectors.EpochSeconds(collectors.OnClock(now, s.contact)), dependency, resource)
	}
	b.Set(watchRestartsMetric, float64(s.restarts), dependency, resource)
	reason := watchReason(s.err)
	for _, r := range failureReasons() {
		b.Set(watchFailureMetric, collectors.Number(r == reason), dependency, resource, string(r))
	}
}

// Describe implements collectors.Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

package scrape

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
)

// The metrics of the kind scrape.
var (
	upMetric             = collectors.NewGauge("vitals_scrape_up", "Whether the last scrape succeeded (1) or not (0).", "component")
	durationMetric       = collectors.NewGauge("vitals_scrape_duration_seconds", "How long the last scrape took, whether it succeeded or not.", "component")
	samplesMetric        = collectors.NewGauge("vitals_scrape_samples", "How many samples the last scrape returned.", "component")
	droppedSamplesMetric = collectors.NewGauge("vitals_scrape_dropped_samples", "How many samples of the last scrape repeated a series.", "component")
	reservedMetric       = collectors.NewGauge("vitals_scrape_reserved_samples", "How many samples of the last scrape were dropped because their names begin with vitals_.", "component")
	bodyMetric           = collectors.NewGauge("vitals_scrape_body_bytes", "Decompressed size of the last answer in bytes, as far as it was read.", "component")
	failureMetric        = collectors.NewGauge("vitals_scrape_failure", "Why the last scrape failed: 1 for that reason, 0 for all others.", "component", "reason")
)

// defs are the metrics of the kind scrape.
func defs() []*collectors.Def {
	return []*collectors.Def{
		upMetric,
		durationMetric,
		samplesMetric,
		droppedSamplesMetric,
		reservedMetric,
		bodyMetric,
		failureMetric,
	}
}

// Metrics implements Kind. It does not list the metrics of the target.
func (c *Config) Metrics(name string) []collectors.Metric {
	if t := c.targets(); t != nil && name != "" {
		return t.Metrics(name)
	}
	m := collectors.NewCatalog(defs(), "component", name)
	m.Closed("reason", collectors.Texts(reasons()), failureMetric)
	m.Bools(upMetric, failureMetric)
	return append(m.List(), discovery.AnyMetrics(name)...)
}

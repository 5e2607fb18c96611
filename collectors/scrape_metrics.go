package collectors

import "github.com/prometheus/common/model"

// scrapeDescs are the metrics of the kind scrape.
func scrapeDescs() []Desc {
	return []Desc{
		{"vitals_scrape_up", "Whether the last scrape succeeded (1) or not (0).", model.MetricTypeGauge},
		{"vitals_scrape_duration_seconds", "How long the last scrape took, whether it succeeded or not.", model.MetricTypeGauge},
		{"vitals_scrape_samples", "How many samples the last scrape yielded.", model.MetricTypeGauge},
		{"vitals_scrape_dropped_samples", "How many samples of the last scrape repeated a series, or were more than ten minutes in the future.", model.MetricTypeGauge},
		{"vitals_scrape_body_bytes", "Decompressed size of the last answer in bytes, as far as it was read.", model.MetricTypeGauge},
		{"vitals_scrape_failure", "Why the last scrape failed: 1 for that reason, 0 for all others.", model.MetricTypeGauge},
	}
}

// Metrics implements Kind. What the target exports is not among them.
func (c *ScrapeConfig) Metrics(name string) []Metric {
	m := newCatalog(scrapeDescs(), "component", name)
	m.closed("reason", texts(scrapeReasons()), "vitals_scrape_failure")
	m.bools("vitals_scrape_up", "vitals_scrape_failure")
	return m.list()
}

package collectors

// The metrics of the kind scrape.
var (
	scrapeUpMetric             = newGauge("vitals_scrape_up", "Whether the last scrape succeeded (1) or not (0).", "component")
	scrapeDurationMetric       = newGauge("vitals_scrape_duration_seconds", "How long the last scrape took, whether it succeeded or not.", "component")
	scrapeSamplesMetric        = newGauge("vitals_scrape_samples", "How many samples the last scrape yielded.", "component")
	scrapeDroppedSamplesMetric = newGauge("vitals_scrape_dropped_samples", "How many samples of the last scrape repeated a series, or were more than ten minutes in the future.", "component")
	scrapeBodyMetric           = newGauge("vitals_scrape_body_bytes", "Decompressed size of the last answer in bytes, as far as it was read.", "component")
	scrapeFailureMetric        = newGauge("vitals_scrape_failure", "Why the last scrape failed: 1 for that reason, 0 for all others.", "component", "reason")
)

// scrapeDefs are the metrics of the kind scrape.
func scrapeDefs() []*Def {
	return []*Def{
		scrapeUpMetric,
		scrapeDurationMetric,
		scrapeSamplesMetric,
		scrapeDroppedSamplesMetric,
		scrapeBodyMetric,
		scrapeFailureMetric,
	}
}

// Metrics implements Kind. What the target exports is not among them.
func (c *ScrapeConfig) Metrics(name string) []Metric {
	m := newCatalog(scrapeDefs(), "component", name)
	m.closed("reason", texts(scrapeReasons()), scrapeFailureMetric)
	m.bools(scrapeUpMetric, scrapeFailureMetric)
	return m.list()
}

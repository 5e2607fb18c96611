package targets

import "github.com/vitals-health/vitals/collectors"

// The metrics of a collector that discovers its targets.
var (
	upMetric      = collectors.NewGauge("vitals_discovery_up", "Whether the collector could read all of its targets (1) or keeps those of before (0).", "collector")
	targetsMetric = collectors.NewGauge("vitals_discovery_targets", "How many targets the collector checks.", "collector")
	droppedMetric = collectors.NewGauge("vitals_discovery_dropped_targets", "How many targets were found and are not checked: they exceed the limit, repeat a name or have a mistake.", "collector")
)

// Defs returns the metrics of the discovery.
func Defs() []*collectors.Def { return []*collectors.Def{upMetric, targetsMetric, droppedMetric} }

// Metrics returns the metrics of the discovery by the collector with this name, as
// collectors.Kind.Metrics does.
func Metrics(collector string) []collectors.Metric {
	m := collectors.NewCatalog(Defs(), "", collector)
	m.Open("collector", []string{collector})
	m.Bools(upMetric)
	return m.List()
}

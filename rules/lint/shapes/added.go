package shapes

import (
	"slices"
	"strings"
)

// Added reports whether Prometheus, or its usual configuration, adds the label to scraped
// series. Rules must work in Prometheus as well.
func Added(label string) bool {
	return slices.Contains(strings.Fields(`
		job instance namespace pod container endpoint service node cluster prometheus replica
		prometheus_replica region zone dc datacenter site env environment host hostname`), label)
}

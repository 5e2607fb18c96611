package lint

import (
	"slices"
	"strings"
)

// added reports whether Prometheus, or its usual configuration, adds the label to scraped
// series. Rules must work in Prometheus as well.
func added(label string) bool {
	return slices.Contains(strings.Fields(`
		job instance namespace pod container endpoint service node cluster prometheus replica
		prometheus_replica region zone dc datacenter site env environment host hostname`), label)
}

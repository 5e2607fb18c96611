package kinds

import "slices"

// IdentityLabels returns the labels that hold the name of a collector, such as dependency,
// sorted. Each metric has at most one of them.
func IdentityLabels() []string {
	var labels []string
	for _, kind := range Names() {
		for _, m := range New(kind).Metrics("") {
			if m.Identity != "" {
				labels = append(labels, m.Identity)
			}
		}
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

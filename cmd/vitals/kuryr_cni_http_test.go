package main

import "testing"

// The HTTP contract is the same on the CNI daemon's port as on the controller's.
func TestCNIHTTP(t *testing.T) {
	t.Parallel()
	runHTTPCases(t, startCNILab(t, labOptions{pace: calmPace}))
}

func TestCNIHTTPChecks(t *testing.T) {
	t.Parallel()
	for _, c := range kuryrHTTPChecks(newCNILab) {
		t.Run(c.id+" "+c.name, c.check)
	}
}

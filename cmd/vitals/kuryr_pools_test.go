package main

import (
	"testing"
)

// kuryrPoolCases are the scenarios of a deployment with port pools, which its
// kuryr.conf configures.
func kuryrPoolCases() []kuryrCase {
	// The component leader is the role of this replica: ready is leading.
	leads, stands := reports("leader", true, true, ""), notReady("leader", "another replica leads")
	return []kuryrCase{
		{id: "C01", name: "the pools are loaded and everything answers"},
		{id: "C02", name: "the pools are not loaded", given: []step{noMarker}, ready: fails(poolsNotLoaded)},
		{id: "C12", name: "the pools are not loaded and Neutron is down",
			given: []step{noMarker, fault("neutron", "500")}, ready: fails(neutronDown, poolsNotLoaded)},
		{id: "C23", name: "a standby has no pools", given: []step{stands, noMarker}},
		{id: "C23", name: "the leader has no pools", given: []step{leads, noMarker}, ready: fails(poolsNotLoaded)},
		{id: "C23", name: "a standby without Keystone", given: []step{stands, noMarker, fault("keystone", "500")},
			ready: fails(keystoneDown)},
		{id: "C24", name: "the pools are being loaded", given: []step{noMarker}, ready: fails(poolsNotLoaded), after: series(
			`vitals_file_exists{file="pools"}`, "1", `vitals_state{state="alive"}`, "1")},
	}
}

func TestKuryrPools(t *testing.T) {
	t.Parallel()
	startKuryrLab(t, labOptions{kuryrConf: testdata(t, "kuryr.conf")}).runCases(t, kuryrPoolCases())
}

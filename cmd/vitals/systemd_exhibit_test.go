package main

import (
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/systemd"
	"github.com/vitals-health/vitals/internal/fakes"
)

// exhibitSystemd is one service of a fake systemd.
func exhibitSystemd(t *testing.T) *systemd.Config {
	t.Helper()
	const unit = "nova-compute.service"
	socket := filepath.Join(collectortest.Dir(t), "bus")
	s, err := fakes.StartSystemd(socket, map[string]fakes.SystemdUnit{unit: {Load: "loaded", Active: "active", Properties: map[string]any{
		"Unit.ActiveEnterTimestamp": uint64(1_700_000_000_000_000), "Service.Result": "success", "Service.NRestarts": uint32(0),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &systemd.Config{Units: []string{unit}, Bus: socket}
}

package main

import (
	"bytes"
	"path/filepath"
	"testing"
)

// The files about alerts in dashboards/ are those that the command makes.
func TestCommittedAlertsAreGenerated(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"generate", "alerts", "--check", "--out=" + filepath.Join(docsRoot, "dashboards")}, &out, &errs); code != exitOK {
		t.Errorf("vitals generate alerts --check = %d\n%s%s\nrun go run ./cmd/vitals generate alerts", code, out.String(), errs.String())
	}
}

//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// once runs "vitals once ready" and returns its exit code and what it printed.
func once(t *testing.T) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, env(t).vitals, "once", "ready", "--config.file=testdata/vitals.yml")
	cmd.Env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+filepath.Join(env(t).state, "openstack", "clouds.yaml"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestOnce evaluates without a daemon. A configuration error would be code 3.
func TestOnce(t *testing.T) {
	startVitals(t).awaitHealthy(t)
	await(t, "vitals once ready passes", 2*time.Minute, func() error {
		if code, out := once(t); code != 0 {
			return fmt.Errorf("vitals once ready = %d, want 0:\n%s", code, out)
		}
		return nil
	})
	broken(t, "openstack", "keystone-stopped")
	code, out := once(t)
	if code == 0 || code == 3 {
		t.Errorf("vitals once ready = %d with Keystone stopped, want the code of a failing state", code)
	}
	if !strings.Contains(out, "KeystoneDown") {
		t.Errorf("vitals once ready does not name KeystoneDown:\n%s", out)
	}
}

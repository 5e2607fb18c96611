package components_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/panics"
)

// A panic while a notification is processed ends Run and all that it started. The next Run
// listens again.
func TestRunAfterAPanic(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.Join(collectortest.Dir(t), "n")
	socket := filepath.Join(dir, "watcher.sock")
	c := newCollector(t, "{expect: [watcher], deadline: 1h, notify_directory: "+dir+"}")
	exists := func() bool { _, err := os.Lstat(socket); return !errors.Is(err, fs.ErrNotExist) }

	running := panics.Go(func() error {
		return panics.Try(func() { c.Run(t.Context(), func() { panic("boom") }) })
	})
	collectortest.Wait(t, "the socket exists", exists)
	sendNotify(t, dialNotify(t, socket), "READY=1")
	if err := running.Result(); err == nil || err.Error() != "panic: boom" {
		t.Errorf("Run() panics with %v, want the panic of the goroutine", err)
	}
	if exists() {
		t.Errorf("%s still exists without a reader", socket)
	}

	stop, _ := collectortest.Run(t, c)
	defer stop()
	collectortest.Wait(t, "the socket exists again", exists)
	sendNotify(t, dialNotify(t, socket), "STATUS=back")
	collectortest.Wait(t, "the report arrives", func() bool { return c.Status()[0].Reason == "back" })
}

package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/internal/sdnotify/sdnotifytest"
)

func TestNotifyServiceManager(t *testing.T) {
	m := sdnotifytest.Listen(t, filepath.Join(collectortest.Dir(t), "notify"))
	t.Setenv("WATCHDOG_USEC", "100000")
	dir, config := markerConfig(t)
	p := launch(t, "run", "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket=", "--web.shutdown-delay=1h", "--config.poll-interval=0")

	m.Await("STATUS=ready ok, alive ok\nREADY=1") // earlier messages report that there is no data yet
	m.AwaitHeartbeat()
	m.AwaitHeartbeat()
	write(t, dir, "bad", "")
	m.Want(`STATUS=ready failing \(Bad\), alive ok`)

	const reload = `RELOADING=1\nMONOTONIC_USEC=[0-9]{6,}`
	p.signal(syscall.SIGHUP)
	m.Want(reload)
	m.Want("READY=1")
	write(t, dir, "rules.yml", "groups: {}")
	p.signal(syscall.SIGHUP) // the bad file changes nothing, and the reload ends
	m.Want(reload)
	m.Want("READY=1")
	m.AwaitHeartbeat()

	p.signal(syscall.SIGTERM)
	m.Want("STOPPING=1")
	m.Want(`STATUS=ready failing \(shutting down, Bad\), alive ok`)
	p.signal(syscall.SIGTERM) // the second one ends the delay
	if code := p.exit(); code != exitOK {
		t.Errorf("exit code = %d, want 0", code)
	}
}

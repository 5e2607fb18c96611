package tcp_test

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/tcp"
)

func TestGaleraExposition(t *testing.T) {
	address := collectortest.Listen(t, func(conn net.Conn) { tcp.ServeGalera(t, conn) })
	password := filepath.Join(t.TempDir(), "password")
	collectortest.Write(t, password, "hunter2\n")
	c := newCollector(t, "mariadb", "{address: '"+address+"', protocol: mysql, username: vitals, password_file: "+password+", galera: true}")
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	collectortest.Golden(t, "galera.prom", collectortest.Exposition(timeless(t, samples), c.Describe()))
	if got, want := collectortest.Note(c), "mysql "+address+" 8.4.0-fake Donor/Desynced"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

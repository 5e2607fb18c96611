package collectors_test

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

func TestTCPGaleraExposition(t *testing.T) {
	address := tcpListen(t, "tcp", "127.0.0.1:0", nil, func(conn net.Conn) { collectors.ServeGalera(t, conn) })
	password := filepath.Join(t.TempDir(), "password")
	localWrite(t, password, "hunter2\n")
	c := tcpNew(t, "mariadb", "{address: '"+address+"', protocol: mysql, username: vitals, password_file: "+password+", galera: true}")
	samples, err := localCollect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	localGolden(t, "tcp/galera.prom", localExposition(tcpTimeless(t, samples), c.Describe()))
	if got, want := localNote(c), "mysql "+address+" 8.4.0-fake Donor/Desynced"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

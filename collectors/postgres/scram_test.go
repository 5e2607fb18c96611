package postgres

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// A number of iterations that takes long to compute ends the login, however it arrives.
func TestSCRAMIterations(t *testing.T) {
	for text, want := range map[string]bool{
		"r=a,s=YQ==,i=4096": false, "r=a,s=YQ==,i=999999": false, "r=a,s=YQ==,i=1000000": true, "r=a,s=YQ==,i=10000000": true,
		"r=a,s=YQ==,i=00000004096": true, "r=a,s=YQ==,i=+4096": false, ",i=,i=1,i=1234567": true, "": false,
	} {
		for _, pieces := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader} {
			guard := &scramGuard{Reader: pieces(strings.NewReader(strings.Repeat("x", 100) + text))}
			_, err := io.Copy(io.Discard, guard)
			if got := remote.ReasonOf(err) == remote.ReasonProtocol; got != want {
				t.Errorf("read of %q = %v, want an error: %t", text, err, want)
			}
			guard.done.Store(true)
			guard.Reader = strings.NewReader(text)
			if _, err := io.Copy(io.Discard, guard); err != nil {
				t.Errorf("read of %q after the login = %v, want no error", text, err)
			}
		}
	}
}

// A login with such a number fails at once.
func TestSCRAMOfAHostileServer(t *testing.T) {
	first := "R\x00\x00\x00\x17\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00"
	challenge := "\x00\x00\x00\x0br=a,s=YQ==,i=9999999"
	conn := collectortest.Played(first + "R\x00\x00\x00" + string([]byte{byte(4 + len(challenge))}) + challenge)
	c := &collector{config: Config{SSLMode: sslDisable}, address: remote.Address{Host: "127.0.0.1", Port: "5432"}}
	start := time.Now()
	_, err := c.startup(t.Context(), conn, &collection{username: "vitals", password: "hunter2"})
	if err = serverError(err); err == nil || !strings.Contains(err.Error(), "999999 iterations") || remote.ReasonUntil(t.Context(), err) != remote.ReasonProtocol {
		t.Errorf("startup() = %v after %s, want protocol", err, time.Since(start))
	}
}

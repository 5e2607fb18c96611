package firstconfig

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// FuzzSockets parses tables of sockets: addresses have a port, and paths begin with a slash.
func FuzzSockets(f *testing.F) {
	f.Add([]byte("  sl\n   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 50001 1\n"))
	f.Add([]byte("   0: 00000000000000000000000001000000:1F90 0:0 0A 0:0 0:0 0 0 0 7 1\n"))
	f.Add([]byte("Num\n0: 00000002 00000000 00010000 0001 01 60001 /run/redis.sock\n"))
	f.Fuzz(func(t *testing.T, table []byte) {
		for _, l := range parseInet(table) {
			if !l.address.IsValid() || reachable(l.address) == "" {
				t.Errorf("parseInet returns the address %v, want a valid one", l.address)
			}
		}
		for _, path := range parseUnix(table) {
			if !strings.HasPrefix(path, "/") {
				t.Errorf("parseUnix returns %q, want a path", path)
			}
		}
	})
}

// FuzzURL turns a value of a variable into an entry, which is always valid YAML with one kind.
func FuzzURL(f *testing.F) {
	for _, text := range []string{"http://h/?a=b", "redis://:p@h:1", "postgres://u:p@h/d?sslmode=require", "mysql+x://h", "amqp://h/${A}", "grpc://h:1", "tcp://[::1]:2", "mailto:x", "http://u:p,@h,http://i", "mysql://u:p@h,i/d?a,b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := ofURL(text, secret{})
		if !ok {
			return
		}
		found := Found{Collectors: []Collector{c}}
		found.name("/etc/vitals")
		c = found.Collectors[0]
		var entries []map[string]any
		if _, mistakes := strictyaml.Decode("entry", []byte(c.text()), &entries); len(mistakes) > 0 {
			t.Errorf("ofURL(%q) = %q, want YAML: %v", text, c.text(), mistakes[0])
		}
		if c.Kind == "" || len(entries) != 1 {
			t.Errorf("ofURL(%q) = %+v, want one entry with a kind", text, c)
		}
	})
}

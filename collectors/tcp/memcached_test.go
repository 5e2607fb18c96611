package tcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

func TestMemcachedAnswers(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         remote.Reason
	}{
		{"healthy", "VERSION 1.6.18", ""},
		{"requires a login", "CLIENT_ERROR unauthenticated", remote.ReasonAuth},
		{"out of memory", "SERVER_ERROR out of memory", remote.ReasonServerError},
		{"too many connections", "ERROR Too many open connections", remote.ReasonServerError},
		{"unknown command", "ERROR", remote.ReasonProtocol},
		{"no version", "VERSION ", remote.ReasonProtocol},
		{"lower case", "version 1.6.18", remote.ReasonProtocol},
		{"a redis", "-ERR unknown command 'version'", remote.ReasonProtocol},
		{"nothing", "", remote.ReasonProtocol},
	} {
		if got := reasonOf(parseMemcached(c.answer)); got != c.want {
			t.Errorf("%s: parseMemcached(%q) has reason %q, want %q", c.name, c.answer, got, c.want)
		}
	}
}

func TestMemcachedCheck(t *testing.T) {
	ctx, conn := serveOnce(t, patience, scripted(t, "version\r\n", "VERSION 1.6.18\r\n"))
	note, err := checkMemcached(ctx, &peer{conn: conn})
	if note != "VERSION 1.6.18" || err != nil {
		t.Errorf("checkMemcached() = %q, %v, want the version", note, err)
	}
}

func TestMemcachedHostile(t *testing.T) { hostile(t, checkMemcached) }

func FuzzMemcachedAnswer(f *testing.F) {
	for _, seed := range []string{"VERSION 1.6.18", "ERROR", "VERSION", "\xff\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		err := parseMemcached(answer)
		if err == nil && !strings.HasPrefix(answer, "VERSION ") {
			t.Fatalf("parseMemcached(%q) = nil, want an error", answer)
		}
		if got := reasonOf(err); err != nil && !slices.Contains(remote.Reasons(), got) {
			t.Fatalf("parseMemcached(%q) has the reason %q, want a known one", answer, got)
		}
	})
}

func FuzzMemcachedServer(f *testing.F) {
	f.Add([]byte("VERSION 1.6.18\r\n"))
	f.Add([]byte("\r\n\n\r"))
	f.Fuzz(func(t *testing.T, answer []byte) { fuzzServer(t, answer, checkMemcached) })
}

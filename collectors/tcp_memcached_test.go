package collectors

import (
	"slices"
	"strings"
	"testing"
)

func TestMemcachedAnswers(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         Reason
	}{
		{"healthy", "VERSION 1.6.18", ""},
		{"wants a login", "CLIENT_ERROR unauthenticated", ReasonAuth},
		{"out of memory", "SERVER_ERROR out of memory", ReasonServerError},
		{"too many connections", "ERROR Too many open connections", ReasonServerError},
		{"does not know the command", "ERROR", ReasonProtocol},
		{"no version", "VERSION ", ReasonProtocol},
		{"lower case", "version 1.6.18", ReasonProtocol},
		{"a redis", "-ERR unknown command 'version'", ReasonProtocol},
		{"nothing", "", ReasonProtocol},
	} {
		if got := tcpReasonOf(parseMemcached(c.answer)); got != c.want {
			t.Errorf("%s: parseMemcached(%q) has reason %q, want %q", c.name, c.answer, got, c.want)
		}
	}
}

func TestMemcachedCheck(t *testing.T) {
	ctx, conn := tcpServe(t, tcpPatience, tcpScript(t, "version\r\n", "VERSION 1.6.18\r\n"))
	note, err := checkMemcached(ctx, &tcpPeer{conn: conn})
	if note != "VERSION 1.6.18" || err != nil {
		t.Errorf("checkMemcached() = %q, %v, want the version", note, err)
	}
}

func TestMemcachedHostile(t *testing.T) { tcpHostile(t, checkMemcached) }

func FuzzMemcachedAnswer(f *testing.F) {
	for _, seed := range []string{"VERSION 1.6.18", "ERROR", "VERSION", "\xff\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		err := parseMemcached(answer)
		if err == nil && !strings.HasPrefix(answer, "VERSION ") {
			t.Fatalf("parseMemcached(%q) = nil, want an error", answer)
		}
		if got := tcpReasonOf(err); err != nil && !slices.Contains(Reasons(), got) {
			t.Fatalf("parseMemcached(%q) has the reason %q, want a known one", answer, got)
		}
	})
}

func FuzzMemcachedServer(f *testing.F) {
	f.Add([]byte("VERSION 1.6.18\r\n"))
	f.Add([]byte("\r\n\n\r"))
	f.Fuzz(func(t *testing.T, answer []byte) { tcpFuzzServer(t, answer, checkMemcached) })
}

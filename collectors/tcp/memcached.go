package tcp

import (
	"context"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

// checkMemcached queries the version, in the text protocol.
// Source of the protocol: memcached/doc/protocol.txt
func checkMemcached(_ context.Context, peer *peer) (string, error) {
	answer, err := lines.New(peer.conn).Exchange("version", "version\r\n")
	if err != nil {
		return "", err
	}
	return answer, parseMemcached(answer)
}

// parseMemcached judges the answer to version.
func parseMemcached(answer string) error {
	version, ok := strings.CutPrefix(answer, "VERSION ")
	if ok && version != "" {
		return nil
	}
	reason := remote.ReasonProtocol
	switch {
	case answer == "CLIENT_ERROR unauthenticated": // a server with --auth-file
		reason = remote.ReasonAuth
	case strings.HasPrefix(answer, "SERVER_ERROR "), answer == "ERROR Too many open connections":
		reason = remote.ReasonServerError
	}
	return collectors.Errorf(reason, "expected VERSION and a number, got %q", answer)
}

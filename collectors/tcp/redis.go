package tcp

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// checkRedis logs in with configured credentials, and expects +PONG.
// Source of the protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/
func checkRedis(_ context.Context, peer *peer) (string, error) {
	lines := newLines(peer.conn)
	expect := func(command, request, want string) error {
		answer, err := lines.exchange(command, request)
		if err != nil || answer == want {
			return err
		}
		// Redacted before it is cut: a part of a password must not show either.
		return redisFailure(command, want, peer.login.redacted(answer))
	}
	if peer.login != nil {
		if err := expect("AUTH", redisAuth(peer.login), "+OK"); err != nil {
			return "", err
		}
	}
	return redisPong, expect("PING", redisCommand("PING"), redisPong)
}

// redisPong is the answer of a server that is up.
const redisPong = "+PONG"

// redisAuth is the command that logs in by a password alone, as before version 6, or as a user.
func redisAuth(login *credentials) string {
	if login.Username == "" {
		return redisCommand("AUTH", login.Password.Value())
	}
	return redisCommand("AUTH", login.Username, login.Password.Value())
}

// redisCommand is a command as an array of bulk strings.
func redisCommand(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		b.WriteString("$" + strconv.Itoa(len(w)) + "\r\n" + w + "\r\n")
	}
	return b.String()
}

// redisError is an error reply: a code in capitals, and a text for people. Redis repeats
// arguments of a command in quotes, so the text ends before the first.
var redisError = regexp.MustCompile("^-([A-Z]{2,32})\\b([^'\"`]*)")

// redisFailure returns the error of an unexpected answer.
func redisFailure(command, want, answer string) error {
	reply := redisError.FindStringSubmatch(answer)
	if reply == nil {
		return collectors.Errorf(remote.ReasonProtocol, "expected %s for %s, got %q", want, command, answer)
	}
	code, text := reply[1], strings.TrimSpace(reply[2])
	return collectors.Errorf(reasonOfRedis(command, code, text), "answer to %s: %s %s", command, code, text)
}

// reasonOfRedis classifies an error reply. AUTH fails with ERR if the server has no
// password; any command does while there are too many clients.
// Source of the codes: redis/src/server.c, createSharedObjects; acl.c, networking.c.
func reasonOfRedis(command, code, text string) remote.Reason {
	switch code {
	case "NOAUTH", "WRONGPASS", "NOPERM":
		return remote.ReasonAuth
	case "DENIED": // protected mode
		return remote.ReasonForbidden
	case "ERR":
		switch {
		case strings.HasPrefix(text, "unknown command"):
			return remote.ReasonProtocol
		case command == "AUTH" && !strings.HasPrefix(text, "max number of clients"):
			return remote.ReasonAuth
		}
	}
	return remote.ReasonServerError
}

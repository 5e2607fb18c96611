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

// checkRedis logs in where credentials are configured, and wants +PONG.
// Source of the protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/
func checkRedis(_ context.Context, peer *peer) (string, error) {
	lines := newTCPLines(peer.conn)
	ask := func(command, request, want string) error {
		answer, err := lines.ask(command, request)
		if err != nil || answer == want {
			return err
		}
		// Redacted before it is cut, as a part of a password is not to be seen either.
		return redisFailure(command, want, peer.login.redacted(answer))
	}
	if peer.login != nil {
		if err := ask("AUTH", redisAuth(peer.login), "+OK"); err != nil {
			return "", err
		}
	}
	return redisPong, ask("PING", redisCommand("PING"), redisPong)
}

// redisPong is the answer of a server that serves.
const redisPong = "+PONG"

// redisAuth logs in by a password alone, as before version 6, or as a user.
func redisAuth(login *tcpLogin) string {
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

// redisFailure is the error of an answer that is not the one that is wanted.
func redisFailure(command, want, answer string) error {
	reply := redisError.FindStringSubmatch(answer)
	if reply == nil {
		return collectors.Errorf(remote.ReasonProtocol, "expected %s for %s, got %q", want, command, answer)
	}
	code, text := reply[1], strings.TrimSpace(reply[2])
	return collectors.Errorf(reasonOfRedis(command, code, text), "answer to %s: %s %s", command, code, text)
}

// reasonOfRedis classifies an error reply. AUTH fails with ERR where the server has no
// password; any command does while too many clients are there.
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

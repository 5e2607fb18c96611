package collectors

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// checkRedis logs in where credentials are configured, and wants +PONG.
// Source of the protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/
func checkRedis(_ context.Context, peer *tcpPeer) (string, error) {
	lines := newTCPLines(peer.conn)
	if peer.login != nil {
		answer, err := lines.ask("AUTH", redisAuth(peer.login))
		if err != nil {
			return "", err
		}
		if err := parseRedis("AUTH", "+OK", answer); err != nil {
			return "", err
		}
	}
	answer, err := lines.ask("PING", redisCommand("PING"))
	if err != nil {
		return "", err
	}
	return answer, parseRedis("PING", "+PONG", answer)
}

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
var redisError = regexp.MustCompile("^-([A-Z]{2,32})(?: ([^'\"`]*))?")

// parseRedis judges the answer to a command: nil if it is the one that is wanted.
func parseRedis(command, want, answer string) error {
	if answer == want {
		return nil
	}
	reply := redisError.FindStringSubmatch(answer)
	if reply == nil {
		return failed(ReasonProtocol, "answer to %s is %s: expected %s", command, tcpShown(answer), want)
	}
	code, text := reply[1], oneLine(reply[2], maxTCPShown)
	return failed(reasonOfRedis(command, code, text), "answer to %s: %s %s", command, code, text)
}

// reasonOfRedis classifies an error reply. AUTH fails with ERR where the server has no
// password or an unknown command; any command does while too many clients are there.
// Source of the codes: redis/src/server.c, createSharedObjects; acl.c, networking.c.
func reasonOfRedis(command, code, text string) Reason {
	switch code {
	case "NOAUTH", "WRONGPASS", "NOPERM":
		return ReasonAuth
	case "DENIED": // protected mode
		return ReasonForbidden
	case "ERR":
		switch {
		case strings.HasPrefix(text, "max number of clients"):
			return ReasonServerError
		case command == "AUTH":
			return ReasonAuth
		case strings.HasPrefix(text, "unknown command"):
			return ReasonProtocol
		}
	}
	return ReasonServerError
}

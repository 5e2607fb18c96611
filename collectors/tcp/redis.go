package tcp

import (
	"context"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
	"github.com/vitals-health/vitals/collectors/remote/resp"
)

// checkRedis logs in with configured credentials, and expects +PONG.
func checkRedis(_ context.Context, peer *peer) (string, error) {
	conn := lines.New(peer.conn)
	expect := func(command, request, want string) error {
		answer, err := conn.Exchange(command, request)
		if err != nil || answer == want {
			return err
		}
		// Redacted before it is cut: a part of a password must not show either.
		return redisFailure(command, want, peer.login.redacted(answer))
	}
	if peer.login != nil {
		if err := expect("AUTH", resp.Auth(peer.login.Username, peer.login.Password.Value()), "+OK"); err != nil {
			return "", err
		}
	}
	return redisPong, expect("PING", resp.Command("PING"), redisPong)
}

// redisPong is the answer of a server that is up.
const redisPong = "+PONG"

// redisFailure returns the error of an unexpected answer.
func redisFailure(command, want, answer string) error {
	reply, ok := resp.ParseError(command, answer)
	if !ok {
		return collectors.Errorf(remote.ReasonProtocol, "expected %s for %s, got %q", want, command, answer)
	}
	return collectors.Errorf(reasonOfRedis(reply), "%w", reply)
}

// reasonOfRedis classifies an error reply. AUTH fails with ERR if the server has no
// password; any command does while there are too many clients.
// Source of the codes: redis/src/server.c, createSharedObjects; acl.c, networking.c.
func reasonOfRedis(reply *resp.Error) remote.Reason {
	switch reply.Code {
	case "NOAUTH", "WRONGPASS", "NOPERM":
		return remote.ReasonAuth
	case "DENIED": // protected mode
		return remote.ReasonForbidden
	case "ERR":
		switch {
		case reply.UnknownCommand():
			return remote.ReasonProtocol
		case reply.Command == "AUTH" && !reply.TooManyClients():
			return remote.ReasonAuth
		}
	}
	return remote.ReasonServerError
}

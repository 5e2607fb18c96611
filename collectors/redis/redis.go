// Package redis checks that a Redis server answers, and measures its replication, memory, clients,
// persistence and cluster.
package redis

import (
	"errors"
	"fmt"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
	"github.com/vitals-health/vitals/collectors/remote/resp"
)

// Config configures the kind redis: whether a server answers PING, and what INFO and CLUSTER INFO
// contain.
type Config struct {
	lines.Server `yaml:",inline"`
}

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	return c.NewCollector(env, lines.Kind{What: "redis", Reasons: ownReasons(), Metrics: defs(), Talk: talk})
}

// talk logs in, expects PONG and measures. A server that refuses PING may answer INFO nonetheless,
// such as one that loads its data.
func talk(s *lines.Session) (down, incomplete error) {
	if s.Password != "" {
		if err := expect(s, "AUTH", resp.Auth(s.Username, s.Password.Value()), "+OK"); err != nil {
			return err, nil
		}
	}
	down = expect(s, "PING", resp.Command("PING"), "+PONG")
	if _, refused := errors.AsType[*resp.Error](down); down != nil && !refused {
		return down, nil
	}
	incomplete = measure(s)
	return down, incomplete
}

// expect sends a command and compares its answer.
func expect(s *lines.Session, command, request, want string) error {
	answer, err := s.Exchange(command, request)
	if err != nil {
		return err
	}
	reply, refused := resp.ParseError(command, s.Redacted(answer))
	switch {
	case refused:
		s.Answered()
		return collectors.Errorf(reasonOf(reply), "%w", reply)
	case answer != want:
		return collectors.Errorf(remote.ReasonProtocol, "expected %s for %s, got %q", want, command, s.Redacted(answer))
	}
	if command == "PING" {
		s.Answered()
	}
	return nil
}

// reasonOf classifies an error reply. AUTH fails with ERR if the server has no password.
// Source of the codes: redis/src/server.c, createSharedObjects; acl.c, networking.c.
func reasonOf(reply *resp.Error) remote.Reason {
	switch reply.Code {
	case "WRONGPASS":
		return remote.ReasonAuth
	case "NOAUTH":
		return reasonLoginRequired
	case "NOPERM", "DENIED": // the user's rules, and protected mode
		return remote.ReasonForbidden
	case "LOADING":
		return reasonLoading
	case "MASTERDOWN":
		return reasonMasterDown
	case "BUSY":
		return reasonBusy
	case "MISCONF":
		return reasonCannotSave
	case "ERR":
		switch {
		case reply.TooManyClients():
			return reasonTooManyConnections
		case reply.UnknownCommand():
			return remote.ReasonProtocol
		case reply.Command == "AUTH":
			return remote.ReasonAuth
		}
	}
	return remote.ReasonServerError
}

// measure reads INFO, and CLUSTER INFO of a node of a cluster. An answer that is cut off measures
// nothing.
func measure(s *lines.Session) error {
	var state info
	if err := resp.ReadBulk(s.Conn, "INFO", resp.Command("INFO"), state.add); err != nil {
		return measured(s, err)
	}
	if len(state.fields) == 0 {
		return collectors.Errorf(remote.ReasonProtocol, "answer to INFO has no field that is measured")
	}
	state.export(s)
	s.Note = state.note()
	if state.fields["cluster_enabled"] != "1" {
		return nil
	}
	var cluster info
	if err := resp.ReadBulk(s.Conn, "CLUSTER INFO", resp.Command("CLUSTER", "INFO"), cluster.add); err != nil {
		return measured(s, err)
	}
	cluster.exportCluster(s)
	return nil
}

// measured returns the error of a command that measures.
func measured(s *lines.Session, err error) error {
	if reply, refused := errors.AsType[*resp.Error](err); refused {
		reply.Text = s.Redacted(reply.Text)
		return collectors.Errorf(reasonOf(reply), "%w", reply)
	}
	return fmt.Errorf("measure: %w", err)
}

package tcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// ovsdbMessage is a request or an answer. Source: RFC 7047, section 4, and JSON-RPC 1.0.
type ovsdbMessage struct {
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
	ID     json.RawMessage `json:"id"`
}

// ovsdbRequest requests the databases; its answer has the ID ovsdbID. It is a line, so that
// servers of other protocols answer it at once.
const (
	ovsdbID      = `"vitals"`
	ovsdbRequest = `{"method":"list_dbs","params":[],"id":` + ovsdbID + "}\n"
)

// checkOVSDB requests the databases, which must include the configured one. Before it answers,
// the server may request an echo (RFC 7047, section 4.1.11).
func checkOVSDB(_ context.Context, peer *peer) (string, error) {
	if _, err := peer.conn.Write([]byte(ovsdbRequest)); err != nil {
		return "", fmt.Errorf("send list_dbs: %w", err)
	}
	messages := json.NewDecoder(peer.conn)
	for {
		var m ovsdbMessage
		if err := messages.Decode(&m); err != nil {
			return "", fmt.Errorf("read answer to list_dbs: %w", err)
		}
		if string(m.ID) == ovsdbID && m.Method == "" {
			return parseOVSDB(m, peer.database)
		}
		echo, err := answerOVSDB(m)
		if err != nil {
			return "", err
		}
		if echo == nil {
			continue
		}
		if _, err := peer.conn.Write(echo); err != nil {
			return "", fmt.Errorf("answer an echo: %w", err)
		}
	}
}

// answerOVSDB returns the answer to a request for an echo, nothing for a notification.
func answerOVSDB(m ovsdbMessage) ([]byte, error) {
	switch {
	case m.Method == "":
		return nil, collectors.Errorf(remote.ReasonProtocol, "expected the answer to list_dbs, got one to %q", m.ID)
	case len(m.ID) == 0 || string(m.ID) == "null":
		return nil, nil
	case m.Method != "echo":
		return nil, collectors.Errorf(remote.ReasonProtocol, "expected the answer to list_dbs, got the request %q", m.Method)
	}
	params := m.Params
	if len(params) == 0 {
		params = json.RawMessage("[]")
	}
	return json.Marshal(struct {
		Result json.RawMessage `json:"result"`
		Error  any             `json:"error"`
		ID     json.RawMessage `json:"id"`
	}{params, nil, m.ID})
}

// parseOVSDB checks the answer to list_dbs.
func parseOVSDB(m ovsdbMessage, database string) (string, error) {
	if len(m.Error) > 0 && string(m.Error) != "null" {
		return "", collectors.Errorf(remote.ReasonServerError, "answer to list_dbs is the error %q", m.Error)
	}
	var databases []string
	if err := json.Unmarshal(m.Result, &databases); err != nil || databases == nil {
		return "", collectors.Errorf(remote.ReasonProtocol, "expected a list of databases, got %q", m.Result)
	}
	note := strings.Join(databases, " ")
	if database != "" && !slices.Contains(databases, database) {
		return "", collectors.Errorf(remote.ReasonNotFound, "database %q is not among those of the server: %q", database, databases)
	}
	return note, nil
}

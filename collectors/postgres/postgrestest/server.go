// Package postgrestest has a PostgreSQL server for tests.
package postgrestest

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Table is the answer to a statement. A nil cell is NULL.
type Table struct {
	Columns []string
	Rows    [][]any
}

// Server is a server with the part of the protocol that a login and a few queries need.
type Server struct {
	testing.TB
	// Auth is what the server requests: "" for nothing, password or gss.
	Auth, Password string
	// TLS is nil for a server without TLS.
	TLS *tls.Config
	// Refuses returns the answer to the startup message, nil for a login.
	Refuses func(secured bool) *pgproto3.ErrorResponse
	// Answers are tables, errors and what to do by statement.
	Answers map[string]any

	conn    net.Conn
	backend *pgproto3.Backend
	secured bool
	// declared is the statement of the cursor.
	declared string
}

// Healthy returns the answers of a primary without load.
func Healthy() map[string]any {
	return map[string]any{
		"SELECT 1": Table{[]string{"?column?"}, [][]any{{"1"}}},
		StateSQL:   State("0", "0", "7", "97", nil, nil, nil),
	}
}

// StateSQL stands for the statement about the state, whose text is not compared.
const StateSQL = "SELECT r::int"

// State returns the answer to StateSQL: in recovery, read-only, connections, their limit, whether the
// WAL receiver runs, and the lag in seconds and in bytes.
func State(values ...any) Table {
	return Table{[]string{"r", "ro", "c", "l", "w", "s", "b"}, [][]any{values}}
}

// Fatal returns an error that ends the connection, with its SQLSTATE.
func Fatal(code, message string) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: code, Message: message}
}

// Failure returns an error of a statement, with its SQLSTATE.
func Failure(code, message string) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code, Message: message}
}

// Serve answers one client until it leaves.
func (f Server) Serve(conn net.Conn) {
	f.conn = conn
	f.backend = pgproto3.NewBackend(conn, conn)
	if f.login() {
		for f.command() {
		}
	}
}

func (f *Server) login() bool {
	message, err := f.backend.ReceiveStartupMessage()
	if _, ok := message.(*pgproto3.SSLRequest); ok && err == nil {
		if f.TLS == nil {
			_, _ = f.conn.Write([]byte("N"))
		} else {
			_, _ = f.conn.Write([]byte("S"))
			f.conn, f.secured = tls.Server(f.conn, f.TLS), true
			f.backend = pgproto3.NewBackend(f.conn, f.conn)
		}
		message, err = f.backend.ReceiveStartupMessage()
	}
	startup, ok := message.(*pgproto3.StartupMessage)
	if err != nil || !ok {
		return false
	}
	if startup.Parameters["user"] != "vitals" {
		f.Errorf("the server receives the parameters %v, want the user vitals", startup.Parameters)
	}
	if f.Refuses != nil {
		if refusal := f.Refuses(f.secured); refusal != nil {
			f.send(refusal)
			return false
		}
	}
	switch f.Auth {
	case "password":
		f.send(&pgproto3.AuthenticationCleartextPassword{})
		if answer, err := f.backend.Receive(); err != nil || answer.(*pgproto3.PasswordMessage).Password != f.Password {
			f.send(Fatal("28P01", `password authentication failed for user "vitals"`))
			return false
		}
	case "gss":
		f.send(&pgproto3.AuthenticationGSS{})
		return false
	}
	f.send(&pgproto3.AuthenticationOk{}, &pgproto3.ParameterStatus{Name: "server_version", Value: "17.2"},
		&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 2}}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	return true
}

// command answers one message of a statement.
func (f *Server) command() bool {
	message, err := f.backend.Receive()
	if err != nil {
		return false
	}
	switch message := message.(type) {
	case *pgproto3.Query: // of the transaction
		f.send(&pgproto3.CommandComplete{CommandTag: []byte("OK")}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	case *pgproto3.Parse:
		f.statement(message.Query)
	case *pgproto3.Sync:
		f.send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
	case *pgproto3.Terminate:
		return false
	}
	return true
}

func (f *Server) statement(sql string) {
	if declared, ok := strings.CutPrefix(sql, "DECLARE vitals NO SCROLL CURSOR FOR "); ok {
		if f.declared = declared; strings.HasPrefix(declared, StateSQL) {
			f.declared = StateSQL
		}
		f.send(&pgproto3.ParseComplete{}, &pgproto3.BindComplete{}, &pgproto3.NoData{}, &pgproto3.CommandComplete{CommandTag: []byte("DECLARE CURSOR")})
		return
	}
	switch answer := f.Answers[f.declared].(type) {
	case Table:
		f.rows(answer)
	case *pgproto3.ErrorResponse:
		f.send(answer)
	case func(net.Conn):
		answer(f.conn)
	default:
		f.Errorf("the server receives the statement %q, want one of %v", f.declared, f.Answers)
	}
}

func (f *Server) rows(t Table) {
	var fields []pgproto3.FieldDescription
	for _, name := range t.Columns {
		fields = append(fields, pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1})
	}
	f.send(&pgproto3.ParseComplete{}, &pgproto3.BindComplete{}, &pgproto3.RowDescription{Fields: fields})
	for _, cells := range t.Rows {
		row := &pgproto3.DataRow{}
		for _, cell := range cells {
			var value []byte
			if cell != nil {
				value = []byte(fmt.Sprint(cell))
			}
			row.Values = append(row.Values, value)
		}
		f.send(row)
	}
	f.send(&pgproto3.CommandComplete{CommandTag: []byte("FETCH")})
}

// send writes messages. The client may have left.
func (f *Server) send(messages ...pgproto3.BackendMessage) {
	for _, m := range messages {
		f.backend.Send(m)
	}
	_ = f.backend.Flush()
}

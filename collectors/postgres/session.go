package postgres

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// session is a connection to the server. Statements run in transactions that can only read and
// that set statement_timeout for themselves. Parameters of the session would stay in the
// connection of a pooler, and a pooler rejects them in the startup message.
type session struct {
	// conn is nil before the login.
	conn *pgconn.PgConn
	raw  net.Conn
	stop func() bool
}

// close ends the session. Nothing that the library started runs afterwards.
func (s *session) close(ctx context.Context) {
	defer s.stop()
	if s.conn != nil {
		_ = s.conn.Close(ctx) // ends the session first; does nothing after an error of the connection
	}
	_ = s.raw.Close()
	if s.conn != nil {
		<-s.conn.CleanupDone()
	}
}

// alive checks that the server answers SELECT 1.
func (s *session) alive(ctx context.Context) error {
	row, err := s.row(ctx, "SELECT 1", 1)
	if err != nil {
		return fmt.Errorf("query %q: %w", "SELECT 1", err)
	}
	if string(row[0]) != "1" {
		return collectors.Errorf(remote.ReasonProtocol, "answer to SELECT 1 is %.100q: expected 1", row[0])
	}
	return nil
}

// stateSQL selects the columns of stateDefs. All users may read them, since PostgreSQL 10. Parallel
// workers are no clients, but a user without pg_read_all_stats cannot distinguish them.
const stateSQL = `SELECT r::int,
	(r OR current_setting('default_transaction_read_only')::bool)::int,
	(SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'),
	current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - coalesce(current_setting('reserved_connections', true)::int, 0),
	CASE WHEN r THEN w END,
	CASE WHEN NOT r THEN NULL WHEN w = 1 AND pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 ELSE greatest(0, extract(epoch FROM now() - pg_last_xact_replay_timestamp())) END,
	CASE WHEN r THEN greatest(0, pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())) END
	FROM (SELECT pg_is_in_recovery() AS r, (SELECT count(*) FROM pg_stat_wal_receiver) AS w) AS now`

// measure measures the state of the server. NULL is not measured.
func (s *session) measure(ctx context.Context, r *collection) error {
	row, err := s.row(ctx, stateSQL, len(stateDefs()))
	if err != nil {
		return fmt.Errorf("query the state: %w", err)
	}
	for i, def := range stateDefs() {
		if row[i] == nil {
			continue
		}
		value, err := query.Number(row[i])
		if err != nil {
			return collectors.Errorf(remote.ReasonProtocol, "query the state: %w", err)
		}
		r.values[def] = value
	}
	return nil
}

// row returns the one row of a statement that is part of the program.
func (s *session) row(ctx context.Context, sql string, columns int) ([][]byte, error) {
	var row [][]byte
	_, err := s.read(ctx, sql, query.Left(ctx), func(rows *pgconn.ResultReader) error {
		for rows.NextRow() {
			if row != nil || len(rows.Values()) != columns {
				return collectors.Errorf(remote.ReasonProtocol, "the answer has another shape: expected one row of %d columns", columns)
			}
			for _, value := range rows.Values() {
				row = append(row, cloned(value))
			}
		}
		return nil
	})
	if err == nil && row == nil {
		err = collectors.Errorf(remote.ReasonProtocol, "the answer has no row: expected one")
	}
	return row, err
}

// run runs the queries in order, and returns the error of the first that failed.
func (s *session) run(ctx context.Context, queries query.Queries, r *collection) error {
	var first error
	for i, name := range queries.Names() {
		outcome := s.outcome(ctx, queries[name], query.Share(query.Left(ctx), len(queries)-i))
		r.outcomes[name] = outcome
		if outcome.Err != nil && first == nil {
			first = fmt.Errorf("query %s: %w", name, outcome.Err)
		}
	}
	return first
}

func (s *session) outcome(ctx context.Context, q query.Query, within time.Duration) (o query.Outcome) {
	o.Took, o.Err = s.read(ctx, q.SQL, within, func(rows *pgconn.ResultReader) (err error) {
		for rows.NextRow() {
			if o.Result == nil {
				if o.Result, err = q.Result(columnsOf(rows)); err != nil {
					return err
				}
			}
			if err := o.Result.Add(rows.Values()); err != nil {
				return err
			}
		}
		if o.Result == nil && len(rows.FieldDescriptions()) > 0 { // no row
			o.Result, err = q.Result(columnsOf(rows))
		}
		return err
	})
	if o.Err == nil && o.Result == nil {
		o.Err = collectors.Errorf(remote.ReasonProtocol, "the answer has no columns")
	}
	o.Err = query.InTime(ctx, o.Err)
	return o
}

// read runs a statement within a time, in a transaction that can only read, and passes its result
// to each. A cursor accepts one SELECT, VALUES or the like, and computes no more rows than are
// fetched. took is the duration without that of the transaction.
func (s *session) read(ctx context.Context, sql string, within time.Duration, each func(*pgconn.ResultReader) error) (took time.Duration, err error) {
	begin := fmt.Sprintf("BEGIN READ ONLY; SET LOCAL statement_timeout = %d; SET LOCAL cursor_tuple_fraction = 1", max(within.Milliseconds(), 1))
	if err := s.execute(ctx, begin); err != nil {
		return 0, err
	}
	start := time.Now()
	err = s.result(ctx, "DECLARE vitals NO SCROLL CURSOR FOR "+sql, nil)
	if err == nil {
		err = s.result(ctx, fmt.Sprintf("FETCH FORWARD %d FROM vitals", query.MaxRows+1), each)
	}
	took = time.Since(start)
	if end := s.execute(ctx, "ROLLBACK"); err == nil {
		err = end
	}
	return took, err
}

// execute runs statements of the program without results.
func (s *session) execute(ctx context.Context, sql string) error {
	_, err := s.conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return serverError(err)
	}
	return nil
}

// result runs one statement. The protocol for one statement rejects several.
func (s *session) result(ctx context.Context, sql string, each func(*pgconn.ResultReader) error) error {
	rows := s.conn.ExecParams(ctx, sql, nil, nil, nil, nil)
	var bad error
	if each != nil {
		bad = each(rows)
	}
	if _, err := rows.Close(); err != nil {
		return serverError(err)
	}
	return bad
}

func columnsOf(rows *pgconn.ResultReader) []string {
	var names []string
	for _, f := range rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return names
}

// cloned copies a value, which is valid until the next row only. NULL stays nil.
func cloned(value []byte) []byte {
	if value == nil {
		return nil
	}
	return append([]byte{}, value...)
}

const codeInvalidAuthorization = "28000"

// reasonOf classifies a SQLSTATE.
// Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
func reasonOf(code string) remote.Reason {
	switch code {
	case "28P01", codeInvalidAuthorization: // a password, or pg_hba.conf and roles
		return remote.ReasonAuth
	case "42501": // a privilege
		return remote.ReasonForbidden
	case "3D000", "3F000", "42P01", "42883", "42703", "42704": // a database, schema, table, function, column or object
		return remote.ReasonNotFound
	case "53300":
		return reasonTooManyConnections
	case "57P03": // it starts, recovers or stops
		return reasonStartingUp
	case "25006":
		return query.ReasonReadOnly
	case "57014", "55P03", "25P04": // statement_timeout, lock_timeout, transaction_timeout
		return remote.ReasonTimeout
	case "", "08P01":
		return remote.ReasonProtocol
	}
	for _, class := range []string{"0A", "22", "42"} { // a feature, the data, the statement
		if strings.HasPrefix(code, class) {
			return remote.ReasonClientError
		}
	}
	return remote.ReasonServerError
}

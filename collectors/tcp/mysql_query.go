package tcp

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// run runs the queries in order, in a session that can only read and that returns few rows. An
// outcome has the error of its query: the server is up.
func (s *mysqlSession) run(ctx context.Context, peer *peer, mariadb bool) {
	names := peer.queries.Names()
	if len(names) == 0 {
		return
	}
	peer.answered()
	err := s.execute(ctx, "SET SESSION TRANSACTION READ ONLY")
	if err == nil {
		err = s.execute(ctx, fmt.Sprintf("SET SESSION sql_select_limit=%d", query.MaxRows+1))
	}
	for i, name := range names {
		if err != nil {
			peer.ran(name, query.Outcome{Err: query.InTime(ctx, err)})
			continue
		}
		peer.ran(name, s.outcome(ctx, peer.queries[name], query.Share(query.Left(ctx), len(names)-i), mariadb))
	}
}

// outcome runs one query within a time.
func (s *mysqlSession) outcome(ctx context.Context, q query.Query, within time.Duration, mariadb bool) (o query.Outcome) {
	limit := fmt.Sprintf("SET SESSION max_execution_time=%d", max(within.Milliseconds(), 1))
	if mariadb {
		limit = fmt.Sprintf("SET SESSION max_statement_time=%.6f", within.Seconds())
	}
	if err := s.execute(ctx, limit); err != nil {
		o.Err = query.InTime(ctx, err)
		return o
	}
	start := time.Now()
	o.Result, o.Err = s.result(ctx, q)
	o.Took, o.Err = time.Since(start), query.InTime(ctx, o.Err)
	return o
}

// result reads the rows of a query.
func (s *mysqlSession) result(ctx context.Context, q query.Query) (*query.Result, error) {
	rows, err := s.Conn.(driver.QueryerContext).QueryContext(ctx, q.SQL, nil)
	if err != nil {
		return nil, mysqlQueryError(err, s.guard)
	}
	result, err := q.Result(rows.Columns())
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		switch next := rows.Next(values); {
		case errors.Is(next, io.EOF): // the end of the rows: that of the connection is another error
			return result, rows.Close()
		case next != nil:
			err = fmt.Errorf("read a row: %w", mysqlQueryError(next, s.guard))
		default:
			err = result.Add(mysqlTexts(values))
		}
	}
	_ = rows.Close() // reads the other rows
	return nil, err
}

// mysqlTexts returns the values as texts. NULL is nil.
func mysqlTexts(values []driver.Value) [][]byte {
	var texts [][]byte
	for _, v := range values {
		if v == nil {
			texts = append(texts, nil)
			continue
		}
		texts = append(texts, []byte(mysqlText(v)))
	}
	return texts
}

// execute runs a statement of the program without a result.
func (s *mysqlSession) execute(ctx context.Context, text string) error {
	s.guard.noRows = true
	if _, err := s.Conn.(driver.ExecerContext).ExecContext(ctx, text, nil); err != nil {
		return fmt.Errorf("%s: %w", text, mysqlQueryError(err, s.guard))
	}
	return nil
}

// mysqlQueryError adds the reason to an error of a query.
func mysqlQueryError(err error, guard *mysqlGuard) error {
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return collectors.Errorf(mysqlQueryReason(server.Number), "error %d: %s", server.Number, server.Message)
	}
	return mysqlError(err, guard)
}

// mysqlQueryReason classifies the number of an error of a query, with the sources of mysqlReason.
func mysqlQueryReason(number uint16) remote.Reason {
	switch number {
	case 1290, 1792, 1836: // the server, the transaction, or the mode of the server is read-only
		return query.ReasonReadOnly
	case 1317, 1969, 3024: // it was ended, by max_statement_time or max_execution_time
		return remote.ReasonTimeout
	case 1046, 1049, 1051, 1054, 1146, 1305: // no database, table, column or function
		return remote.ReasonNotFound
	case 1143, 1370, 1410: // a column, a function, or a grant
		return remote.ReasonForbidden
	case 1052, 1055, 1056, 1064, 1065, 1111, 1140, 1241, 1242, 1365, 1582, 1690: // the statement, or its data
		return remote.ReasonClientError
	}
	return mysqlReason(number)
}

package tcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// checkMySQL logs in and asks for 1. Of a node of a Galera cluster it asks what
// clustercheck does, too: the state of the node, and whether it may be written to.
func checkMySQL(ctx context.Context, peer *peer) (string, error) {
	m := &mysqlConn{conn: peer.conn}
	if err := m.login(ctx, peer); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	defer m.quit()
	row, err := m.query("SELECT 1, VERSION()")
	if err != nil {
		return "", err
	}
	if len(row) != 2 || row[0] != "1" {
		return "", collectors.Errorf(remote.ReasonProtocol, "answer to SELECT 1 is %q: expected 1", strings.Join(row, " "))
	}
	if !peer.galera {
		return row[1], nil
	}
	state, err := m.galera(peer.measured)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(row[1] + " " + state), nil
}

// galera measures the node, and returns the name of its state.
// Source: https://galeracluster.com/library/documentation/galera-status-variables.html
func (m *mysqlConn) galera(measured func(*collectors.Def, float64)) (string, error) {
	row, err := m.query("SELECT @@GLOBAL.read_only")
	if err != nil {
		return "", err
	}
	// A number, or since MariaDB 12 one of several words.
	writable := len(row) == 1 && (row[0] == "0" || strings.EqualFold(row[0], "OFF"))
	measured(mysqlReadOnlyMetric, collectors.Number(!writable))
	row, err = m.query(`SHOW GLOBAL STATUS LIKE 'wsrep\_local\_state'`)
	if err != nil {
		return "", err
	}
	if len(row) != 2 {
		return "", collectors.Errorf(remote.ReasonNotFound, "there is no wsrep_local_state: expected a node of a Galera cluster")
	}
	state, err := strconv.ParseUint(row[1], 10, 64)
	if err != nil {
		return "", collectors.Errorf(remote.ReasonProtocol, "wsrep_local_state is %q: expected a number", row[1])
	}
	measured(mysqlWsrepLocalStateMetric, float64(state))
	row, err = m.query(`SHOW GLOBAL STATUS LIKE 'wsrep\_local\_state\_comment'`)
	if err != nil || len(row) != 2 {
		return "", err
	}
	return row[1], nil
}

// query returns the first row of the answer, nil where there is none. NULL is empty.
// Source: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response.html
func (m *mysqlConn) query(text string) ([]string, error) {
	row, err := m.ask(text)
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", text, err)
	}
	return row, nil
}

func (m *mysqlConn) ask(text string) (row []string, err error) {
	m.sequence = 0
	if err := m.send(append([]byte{mysqlQuery}, text...)); err != nil {
		return nil, err
	}
	head, err := m.receive()
	if err != nil {
		return nil, err
	}
	columns := int(head.data[0])
	if len(head.data) != 1 || columns == 0 || columns > mysqlColumns {
		return nil, collectors.Errorf(remote.ReasonProtocol, "answer of %d bytes, begins with %#x: expected 1 to %d columns", len(head.data), columns, mysqlColumns)
	}
	for range columns { // their names and types
		if _, err := m.receive(); err != nil {
			return nil, err
		}
	}
	for ends := 0; ; { // of the columns, and of the rows
		packet, err := m.receive()
		switch {
		case err != nil:
			return nil, err
		case packet.data[0] == mysqlEOF && len(packet.data) < 9:
			if ends++; ends == 2 {
				return row, nil
			}
		case ends == 0:
			return nil, collectors.Errorf(remote.ReasonProtocol, "there are more columns than the %d that were announced", columns)
		case row == nil:
			for range columns {
				row = append(row, packet.sized())
			}
			if packet.short || len(packet.data) > 0 {
				return nil, collectors.Errorf(remote.ReasonProtocol, "row is not as long as its columns")
			}
		}
	}
}

// quit ends the session, so that the server does not count it as aborted.
func (m *mysqlConn) quit() {
	m.sequence = 0
	_ = m.send([]byte{mysqlQuit}) // the server closes the connection, and says nothing
}

// mysqlSays is the error of a server, by its number.
// Source of the numbers: https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
// and https://mariadb.com/kb/en/mariadb-error-code-reference/
func mysqlSays(number uint64, text string) error {
	reason := remote.ReasonServerError
	switch number {
	case 1045, 1251, 1524, 1698, 1820, 1862, 1873, 3118, 3955, 4151: // wrong, locked or expired, or by a plugin that is not there
		reason = remote.ReasonAuth
	case 1044, 1129, 1130, 1142, 1227: // a database, a host, or a right
		reason = remote.ReasonForbidden
	case 1049: // no such database
		reason = remote.ReasonNotFound
	case 3159: // the server wants TLS
		reason = remote.ReasonTLS
	case 1043, 1064, 1156, 1157, 1158, 1160: // what was sent is not understood
		reason = remote.ReasonProtocol
	}
	return collectors.Errorf(reason, "error %d: %s", number, text)
}

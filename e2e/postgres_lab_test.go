//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// postgresql is a PostgreSQL with its data in a directory of its own.
type postgresql struct {
	*tcpServer
	dir, port string
}

// postgresProgram returns the path of a program of Debian's PostgreSQL.
func postgresProgram(t *testing.T, name string) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s of PostgreSQL: %v", name, err)
	}
	return found[len(found)-1]
}

// asPostgres returns a command of the user postgres, because PostgreSQL refuses to run as root.
func asPostgres(command ...string) []string {
	return append([]string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}, command...)
}

func runAsPostgres(t *testing.T, command ...string) {
	t.Helper()
	command = asPostgres(command...)
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}

const postgresRules = `local all postgres peer
local replication postgres peer
local all root peer
local all vitals scram-sha-256
hostssl all localhost 127.0.0.1/32 cert
hostnossl all secured 127.0.0.1/32 reject
hostssl all plain 127.0.0.1/32 reject
host all digest 127.0.0.1/32 md5
host all clear 127.0.0.1/32 password
host all all 127.0.0.1/32 scram-sha-256
`

// postgresServer makes the data and starts the server. postgres logs in by the Unix socket.
func postgresServer(t *testing.T, listen string, settings ...string) postgresql {
	t.Helper()
	return postgresIn(t, ownedDirectory(t, "postgres"), listen, settings...)
}

// postgresIn does so in a directory of the user postgres.
func postgresIn(t *testing.T, dir, listen string, settings ...string) postgresql {
	t.Helper()
	p := postgresql{dir: dir, port: tcpPort(t, listen)}
	runAsPostgres(t, postgresProgram(t, "initdb"), "--pgdata="+p.data(), "--auth=peer", "--encoding=UTF8", "--locale=C", "--no-sync")
	p.write(t, "pg_hba.conf", postgresRules)
	p.serve(t, settings...)
	return p
}

// serve starts the server, and waits for it.
func (p *postgresql) serve(t *testing.T, settings ...string) {
	t.Helper()
	command := []string{postgresProgram(t, "postgres"), "-D", p.data(), "-p", p.port, "-k", p.dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "jit=off"}
	for _, s := range settings {
		command = append(command, "-c", s)
	}
	p.tcpServer = tcpServe(t, asPostgres(command...)...)
	p.serves(t)
}

// serves waits until the server answers a query.
func (p *postgresql) serves(t *testing.T) {
	t.Helper()
	await(t, "PostgreSQL serves", startsWithin, func() error { return p.try("SELECT 1") })
}

func (p *postgresql) data() string { return filepath.Join(p.dir, "data") }

func (p *postgresql) socket() string { return filepath.Join(p.dir, ".s.PGSQL."+p.port) }

// write writes a file of the data directory for the user postgres.
func (p *postgresql) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.data(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	postgresOwns(t, path)
}

// postgresOwns gives a file to the user postgres.
func postgresOwns(t *testing.T, path string) {
	t.Helper()
	owner, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err == nil {
		err = os.Chown(path, uid, -1)
	}
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p *postgresql) psql(sql string) *exec.Cmd {
	command := asPostgres("/usr/bin/psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--host="+p.dir, "--port="+p.port, "--dbname=postgres", "--command="+sql)
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "PGOPTIONS=-c default_transaction_read_only=off")
	return c
}

func (p *postgresql) try(sql string) error {
	out, err := p.psql(sql).CombinedOutput()
	if err != nil {
		return fmt.Errorf("psql: %w\n%s", err, out)
	}
	return nil
}

// execute runs one statement as the superuser, in the database postgres.
func (p *postgresql) execute(t *testing.T, statements ...string) string {
	t.Helper()
	var all []byte
	for _, sql := range statements {
		out, err := p.psql(sql).CombinedOutput()
		if err != nil {
			t.Fatalf("psql: %v\n%s", err, out)
		}
		all = append(all, out...)
	}
	return strings.TrimSpace(string(all))
}

// stop ends the server: its clients are disconnected.
func (p *postgresql) stop(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGINT)
	_ = p.cmd.Wait()
}

// standby makes a hot standby of the server.
func (p *postgresql) standby(t *testing.T, listen string) postgresql {
	t.Helper()
	s := postgresql{dir: ownedDirectory(t, "postgres"), port: tcpPort(t, listen)}
	runAsPostgres(t, postgresProgram(t, "pg_basebackup"), "--host="+p.dir, "--port="+p.port, "--username=postgres", "--pgdata="+s.data(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	s.serve(t, "wal_retrieve_retry_interval=200ms")
	return s
}

// recovers checks that ready passes within an interval after the server is healthy, by the clock of
// Vitals, with some room for a busy machine.
func (a tcpAsking) recovers(t *testing.T, name, note string, since time.Time) {
	t.Helper()
	const within = 525*time.Millisecond + 400*time.Millisecond + 10*time.Second // interval, timeout, and room
	a.sees(t, name, "", note)
	await(t, "ready passes", tcpWithin, func() error { return a.want("/ready", http.StatusOK) })
	var snapshot struct {
		States []struct {
			Name  string
			Since time.Time
		}
	}
	_, status, err := a.get("/api/v1/status")
	if err == nil {
		err = json.Unmarshal([]byte(status), &snapshot)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snapshot.States {
		if took := s.Since.Sub(since); s.Name == "ready" && took > within {
			t.Errorf("ready passes %s after the server, want it within %s", took, within)
		}
	}
}

// hasQuery waits until a query has a reason, "" for none.
func (a tcpAsking) hasQuery(t *testing.T, name, query, reason string) {
	t.Helper()
	await(t, "query "+query+" is "+reason, tcpWithin, func() error {
		m, err := a.metrics()
		if err != nil {
			return err
		}
		success := series("vitals_query_success", "dependency", name, "query", query)
		failure := series("vitals_query_failure", "dependency", name, "query", query, "reason", reason)
		value, ran := m[success]
		if !ran || (value == 1) != (reason == "") || reason != "" && m[failure] != 1 {
			return fmt.Errorf("%s = %v, %t and %s = %v", success, value, ran, failure, m[failure])
		}
		return nil
	})
}

// hasValues waits until the metrics of queries are these, with their values. On a busy machine a
// query may time out in one collection.
func (a tcpAsking) hasValues(t *testing.T, want ...string) {
	t.Helper()
	await(t, "the values of queries", tcpWithin, func() error {
		got, err := a.queryValues()
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			err = fmt.Errorf("values (-want +got):\n%s", diff)
		}
		return err
	})
}

// queryValues returns the values of queries as sorted lines.
func (a tcpAsking) queryValues() ([]string, error) {
	_, metrics, err := a.get("/metrics")
	var lines []string
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "vitals_query_value{") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines, err
}

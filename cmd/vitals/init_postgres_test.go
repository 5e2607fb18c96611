package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/postgres/postgrestest"
)

// vitals init measures a PostgreSQL by the login of a URL. A server that accepts TCP and refuses
// every login is therefore not ready, from any working directory. The refusal is the cause.
func TestInitOfAPostgreSQLThatRefusesConnections(t *testing.T) {
	const password = "s3cret/of database"
	var refuses atomic.Bool
	server := func(conn net.Conn) {
		s := postgrestest.Server{TB: t, Auth: "password", Password: password, Answers: postgrestest.Healthy()}
		if refuses.Load() {
			s.Refuses = func(bool) *pgproto3.ErrorResponse {
				return postgrestest.Fatal("53300", "sorry, too many clients already")
			}
		}
		s.Serve(conn)
	}
	t.Setenv("DATABASE_URL", "postgres://vitals:s3cret%2Fof%20database@"+collectortest.Listen(t, server)+"/app?sslmode=disable")
	for _, name := range []string{"PGHOST", "REDIS_HOST", "KUBERNETES_SERVICE_HOST", "KUBECONFIG", "OS_CLOUD", "OS_AUTH_URL"} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
	old := syscall.Umask(0)
	out := succeed(t, "init", "--root="+t.TempDir(), "--write=my health")
	syscall.Umask(old)
	if strings.Contains(out, "s3cret") || !strings.Contains(out, "database (postgres): DATABASE_URL names it\n") {
		t.Errorf("vitals init prints\n%s\nwant the kind and no password", out)
	}
	for _, name := range []string{"vitals.yml", "rules.yml", "rules_test.yml", "database.password"} {
		path := filepath.Join("my health", name)
		info, err := os.Stat(path)
		text, bad := os.ReadFile(path)
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		if secret := strings.Contains(string(text), "s3cret"); secret != (name == "database.password") || secret && info.Mode() != 0o600 {
			t.Errorf("%s has the mode %v and the text\n%s\nwant the password in database.password alone, with mode 0600", name, info.Mode(), text)
		}
	}
	config, err := filepath.Abs("my health/vitals.yml")
	if err != nil {
		t.Fatal(err)
	}
	succeed(t, "check", "config", config)
	succeed(t, "test", "rules", "my health/rules_test.yml")
	t.Chdir(t.TempDir())
	succeed(t, "once", "ready", "--config.file="+config)
	succeed(t, "check", "collectors", "--config.file="+config)

	refuses.Store(true)
	var once, errs bytes.Buffer
	code := run([]string{"once", "ready", "--config.file=" + config}, &once, &errs)
	if code != 1 || !strings.HasPrefix(once.String(), "failing 1 DatabaseFull failing: All connections of database are in use. ") || !strings.HasSuffix(once.String(), "\n... and 1 consequence: DatabaseDown\n") || strings.Contains(once.String()+errs.String(), "s3cret") {
		t.Errorf("vitals once ready = %d, %s%s, want 1 with DatabaseFull, and DatabaseDown as its consequence", code, once.String(), errs.String())
	}
	once.Reset()
	if code := run([]string{"check", "collectors", "--config.file=" + config}, &once, &errs); code != 1 || !strings.Contains(once.String(), "too_many_connections") {
		t.Errorf("vitals check collectors = %d, %s%s, want 1 with too_many_connections", code, once.String(), errs.String())
	}
}

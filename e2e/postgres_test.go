//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const postgresWell = " 1" // the version begins so

// postgresSQL makes the roles and the databases of the tests.
func postgresSQL() []string {
	return []string{
		"CREATE ROLE vitals LOGIN PASSWORD 'test-password'", "CREATE ROLE secured LOGIN PASSWORD 'test-password'", "CREATE ROLE plain LOGIN PASSWORD 'test-password'",
		"CREATE ROLE clear LOGIN PASSWORD 'test-password'", "CREATE ROLE localhost LOGIN", "CREATE ROLE root LOGIN", "CREATE ROLE nologin PASSWORD 'test-password'",
		"SET password_encryption = md5; CREATE ROLE digest LOGIN PASSWORD 'test-password'",
		"CREATE DATABASE nova", "CREATE DATABASE private", "REVOKE CONNECT ON DATABASE private FROM public", "CREATE DATABASE kept",
		"ALTER DATABASE kept SET default_transaction_read_only = on",
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), shortDirectory(t, "")
	certificates := ownedDirectory(t, "postgres")
	tcpCertificates(t, certificates)
	postgresOwns(t, certificates+"/key.pem")
	file, wrong := filepath.Join(dir, "password"), filepath.Join(dir, "wrong")
	write := func(path, password string) {
		if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "test-password")
	write(wrong, "test-password-wrong")
	p := postgresServer(t, listen, "ssl=on", "ssl_ca_file="+certificates+"/ca.pem", "ssl_cert_file="+certificates+"/cert.pem", "ssl_key_file="+certificates+"/key.pem")
	p.execute(t, postgresSQL()...)
	server := func(user, more string) string {
		return "address: '" + listen + "', username: " + user + ", password_file: " + file + ", database: nova" + more
	}
	ca := ", tls: {ca_file: " + certificates + "/ca.pem"
	own := ", cert_file: " + certificates + "/cert.pem, key_file: " + certificates + "/key.pem}"
	a := serverAsk(t, "postgres", map[string]string{
		"postgres":   server("vitals", ", target_session_attrs: read-write"),
		"disable":    server("vitals", ", sslmode: disable"),
		"allow":      server("secured", ", sslmode: allow"),
		"prefer":     server("plain", ""),
		"require":    server("secured", ", sslmode: require"),
		"verify-ca":  server("vitals", ", sslmode: verify-ca"+ca+", server_name: db.example}"),
		"full":       server("vitals", ", sslmode: verify-full"+ca+"}"),
		"mutual":     server("localhost", ", sslmode: verify-full"+ca+own),
		"one-sided":  server("localhost", ", sslmode: verify-full"+ca+"}"),
		"name":       server("vitals", ", sslmode: verify-full"+ca+", server_name: db.example}"),
		"authority":  server("vitals", ", sslmode: verify-full"),
		"no-tls":     server("secured", ", sslmode: disable"),
		"digest":     server("digest", ""),
		"clear":      server("clear", ""),
		"peer":       "address: 'unix:" + p.socket() + "', database: nova",
		"socket":     "address: 'unix:" + p.dir + "/.s.PGSQL.*[0-9]', username: vitals, password_file: " + file + ", database: nova",
		"other-peer": "address: 'unix:" + p.socket() + "', username: postgres",
		"wrong":      "address: '" + listen + "', username: vitals, password_file: " + wrong + ", database: nova",
		"none":       "address: '" + listen + "', username: vitals, database: nova",
		"unknown":    server("unknown", ""),
		"nologin":    server("nologin", ""),
		"missing":    "address: '" + listen + "', username: vitals, password_file: " + file + ", database: nowhere",
		"private":    "address: '" + listen + "', username: vitals, password_file: " + file + ", database: private",
		"kept":       "address: '" + listen + "', username: vitals, password_file: " + file + ", database: kept",
		"kept-rw":    "address: '" + listen + "', username: vitals, password_file: " + file + ", database: kept, target_session_attrs: read-write",
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"healthy", "postgres", "", "postgres " + listen + " 1"},
		{"sslmode disable", "disable", "", postgresWell},
		{"sslmode allow", "allow", "", " with TLS 1.3"},
		{"sslmode prefer, refused with TLS", "prefer", "", postgresWell},
		{"sslmode require", "require", "", " with TLS 1.3"},
		{"sslmode verify-ca", "verify-ca", "", " with TLS 1.3"},
		{"sslmode verify-full", "full", "", " with TLS 1.3"},
		{"client certificate", "mutual", "", " with TLS 1.3"},
		{"no client certificate", "one-sided", "auth", "auth: error 28000: connection requires a valid client certificate"},
		{"another name", "name", "tls", "db.example"},
		{"another authority", "authority", "tls", "signed by unknown authority"},
		{"TLS is required", "no-tls", "auth", "error 28000: pg_hba.conf rejects connection"},
		{"MD5", "digest", "", postgresWell},
		{"password itself on this host", "clear", "", postgresWell},
		{"peer", "peer", "", "postgres unix:" + p.socket() + " 1"},
		{"password over the Unix socket", "socket", "", postgresWell},
		{"another peer", "other-peer", "auth", "error 28000: Peer authentication failed"},
		{"wrong password", "wrong", "auth", `auth: error 28P01: password authentication failed for user "vitals"`},
		{"password missing", "none", "auth", "error 28P01"},
		{"unknown user", "unknown", "auth", "error 28P01"},
		{"role without a login", "nologin", "auth", `error 28000: role "nologin" is not permitted to log in`},
		{"no such database", "missing", "not_found", `not_found: error 3D000: database "nowhere" does not exist`},
		{"database of others", "private", "forbidden", `forbidden: error 42501: permission denied for database "private"`},
		{"read-only", "kept", "", postgresWell},
		{"read-only, changes required", "kept-rw", "read_only", "read_only: the server is read-only"},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("state", func(t *testing.T) {
		a.measures(t, `vitals_postgres_in_recovery{dependency="postgres"} 0`+"\n")
		a.measures(t, `vitals_postgres_read_only{dependency="postgres"} 0`+"\n")
		a.measures(t, `vitals_postgres_read_only{dependency="kept"} 1`+"\n")
		a.measures(t, `vitals_postgres_connections_limit{dependency="postgres"} 97`+"\n")
		a.measures(t, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="full"} 1.`)
	})
	t.Run("password rotated", func(t *testing.T) {
		write(file, "test-password-old")
		a.sees(t, "postgres", "auth", "error 28P01")
		write(file, "test-password")
		a.sees(t, "postgres", "", postgresWell)
	})
	a.keepsSecrets(t)
	if err := a.want("/alive", http.StatusOK); err != nil {
		t.Error(err)
	}
}

// watchedPostgres is a server of which a Vitals requires that it accepts changes.
type watchedPostgres struct {
	postgresql
	a tcpAsking
}

// watchPostgres starts both, with five connections for ordinary users.
func watchPostgres(t *testing.T) watchedPostgres {
	t.Helper()
	listen := address(t)
	p := postgresServer(t, listen, "max_connections=8", "superuser_reserved_connections=3", "max_wal_senders=2")
	p.execute(t, postgresSQL()...)
	file := filepath.Join(shortDirectory(t, ""), "password")
	if err := os.WriteFile(file, []byte("test-password"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watchedPostgres{p, serverAsk(t, "postgres", map[string]string{"postgres": "address: '" + listen + "', username: vitals, password_file: " + file + ", database: nova, target_session_attrs: read-write"})}
	w.recovers(t)
	w.a.staysAlive(t)
	return w
}

// fails waits for a reason and a part of the note, and for ready.
func (w watchedPostgres) fails(t *testing.T, reason, note string) {
	t.Helper()
	w.a.sees(t, "postgres", reason, note)
	await(t, "ready fails", tcpWithin, func() error { return w.a.want("/ready", http.StatusServiceUnavailable) })
}

// recovers waits until the server is up again, and ready.
func (w watchedPostgres) recovers(t *testing.T) {
	t.Helper()
	w.a.recovers(t, "postgres", postgresWell, time.Now())
}

// hold keeps sessions that sleep, and returns a function that ends them. One that the server
// refuses is started again.
func (w watchedPostgres) hold(t *testing.T, sessions int) (release func()) {
	t.Helper()
	ended := map[*exec.Cmd]chan struct{}{}
	release = func() {
		for c, end := range ended {
			_ = c.Process.Kill()
			<-end
		}
	}
	t.Cleanup(release)
	await(t, fmt.Sprint(sessions, " sessions are held"), tcpWithin, func() error {
		for c, end := range ended {
			select {
			case <-end:
				delete(ended, c)
			default:
			}
		}
		for len(ended) < sessions {
			c := exec.Command("/usr/bin/psql", "--no-psqlrc", "--host=127.0.0.1", "--port="+w.port, "--username=vitals", "--dbname=nova", "--command=SELECT pg_sleep(600)")
			c.Env = append(os.Environ(), "PGPASSWORD=test-password", "PGSSLMODE=disable")
			if err := c.Start(); err != nil {
				return err
			}
			end := make(chan struct{})
			ended[c] = end
			go func() { _ = c.Wait(); close(end) }()
		}
		out, err := w.psql("SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'").Output()
		if got := strings.TrimSpace(string(out)); err == nil && got != fmt.Sprint(sessions) {
			err = fmt.Errorf("%s sessions", got)
		}
		return err
	})
	return release
}

// A server that fails: each failure has its reason, ready follows, and alive stays.
func TestPostgresFaults(t *testing.T) {
	t.Parallel()
	w := watchPostgres(t)
	t.Run("frozen", func(t *testing.T) {
		w.signal(t, syscall.SIGSTOP)
		w.fails(t, "timeout", "timeout")
		w.signal(t, syscall.SIGCONT)
		w.recovers(t)
	})
	t.Run("stopped", func(t *testing.T) {
		w.stop(t)
		w.fails(t, "refused", "connection refused")
		w.start(t)
		w.serves(t)
		w.recovers(t)
	})
	t.Run("stops", func(t *testing.T) {
		release := w.hold(t, 1)
		w.signal(t, syscall.SIGTERM) // waits for the session
		w.fails(t, "starting_up", "error 57P03: the database system is shutting down")
		w.stop(t)
		release()
		w.start(t)
		w.serves(t)
		w.recovers(t)
	})
	t.Run("wrong credentials", func(t *testing.T) {
		w.execute(t, "ALTER ROLE vitals PASSWORD 'test-password-new'")
		w.fails(t, "auth", "error 28P01")
		w.execute(t, "ALTER ROLE vitals PASSWORD 'test-password'")
		w.recovers(t)
	})
}

// The same for a server that answers, and not as required.
func TestPostgresLimits(t *testing.T) {
	t.Parallel()
	w := watchPostgres(t)
	t.Run("full", func(t *testing.T) {
		release := w.hold(t, 5)
		w.fails(t, "too_many_connections", "too_many_connections: error 53300: ")
		release()
		w.execute(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'vitals'")
		w.recovers(t)
	})
	for _, c := range []struct{ name, setting, reason, note string }{
		{"read-only", "default_transaction_read_only = on", "read_only", "the server is read-only"},
		{"slow", "post_auth_delay = 3", "timeout", "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.execute(t, "ALTER SYSTEM SET "+c.setting, "SELECT pg_reload_conf()")
			w.fails(t, c.reason, c.note)
			w.execute(t, "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
			w.recovers(t)
		})
	}
}

func TestPostgresStandby(t *testing.T) {
	t.Parallel()
	listen, follows := address(t), address(t)
	p := postgresServer(t, listen, "wal_level=replica", "wal_keep_size=64MB")
	p.execute(t, postgresSQL()...)
	s := p.standby(t, follows)
	file := filepath.Join(shortDirectory(t, ""), "password")
	if err := os.WriteFile(file, []byte("test-password"), 0o600); err != nil {
		t.Fatal(err)
	}
	block := "address: '" + follows + "', username: vitals, password_file: " + file + ", database: nova"
	a := serverAsk(t, "postgres", map[string]string{"standby": block, "primary": block + ", target_session_attrs: read-write"})
	const receiver, seconds, bytes = `vitals_postgres_wal_receiver_up{dependency="standby"} `, `vitals_postgres_replication_lag_seconds{dependency="standby"} `, `vitals_postgres_replication_lag_bytes{dependency="standby"} `
	t.Run("follows", func(t *testing.T) {
		a.sees(t, "standby", "", postgresWell)
		a.sees(t, "primary", "read_only", "the server is read-only")
		for _, want := range []string{`vitals_postgres_in_recovery{dependency="standby"} 1`, `vitals_postgres_read_only{dependency="standby"} 1`, receiver + "1", seconds + "0", bytes + "0"} {
			a.measures(t, want+"\n")
		}
	})
	lag := func() (lag float64, err error) {
		m, err := a.metrics()
		return m[strings.TrimSpace(seconds)], err
	}
	t.Run("lags", func(t *testing.T) {
		p.execute(t, "CREATE TABLE IF NOT EXISTS replayed (n int)")
		a.measures(t, bytes+"0\n")
		s.execute(t, "SELECT pg_wal_replay_pause()")
		p.execute(t, "INSERT INTO replayed SELECT generate_series(1, 10000)")
		await(t, "the lag grows", tcpWithin, func() error {
			m, err := a.metrics()
			if err == nil && (m[strings.TrimSpace(seconds)] <= 1 || m[strings.TrimSpace(bytes)] <= 10000) {
				err = fmt.Errorf("lag of %v s, %v bytes", m[strings.TrimSpace(seconds)], m[strings.TrimSpace(bytes)])
			}
			return err
		})
		s.execute(t, "SELECT pg_wal_replay_resume()")
		a.measures(t, seconds+"0\n")
		a.measures(t, bytes+"0\n")
	})
	t.Run("primary is gone", func(t *testing.T) {
		p.stop(t)
		a.measures(t, receiver+"0\n")
		await(t, "the lag grows", tcpWithin, func() error {
			got, err := lag()
			if err == nil && got <= 0 {
				err = fmt.Errorf("lag of %v s", got)
			}
			return err
		})
		a.sees(t, "standby", "", postgresWell)
		p.start(t)
		p.serves(t)
		a.measures(t, receiver+"1\n")
		a.measures(t, seconds+"0\n")
	})
	standbyRestarts(t, a, &s)
}

func standbyRestarts(t *testing.T, a tcpAsking, s *postgresql) {
	const receiver = `vitals_postgres_wal_receiver_up{dependency="standby"}`
	t.Run("starts up", func(t *testing.T) {
		s.stop(t)
		command := s.command
		s.command = append(slices.Clone(command), "-c", "hot_standby=off")
		s.start(t)
		a.sees(t, "standby", "starting_up", "error 57P03: the database system is not")
		s.stop(t)
		s.command = command
		s.start(t)
		s.serves(t)
		a.sees(t, "standby", "", postgresWell)
	})
	t.Run("promoted", func(t *testing.T) {
		s.execute(t, "SELECT pg_promote()")
		a.sees(t, "primary", "", postgresWell)
		a.measures(t, `vitals_postgres_in_recovery{dependency="standby"} 0`+"\n")
		if m, err := a.metrics(); err != nil || m[receiver] != 0 {
			t.Errorf("%s = %v, %v, want none of a primary", receiver, m[receiver], err)
		}
	})
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// daemonCommands are the commands that query a daemon, with arguments that print an answer.
func daemonCommands() [][]string {
	return [][]string{{"wait", "alive"}, {"explain", "alive"}, {"explain", "--since=1h"}, {"events"}, {"silence"}, {"maintenance"}}
}

// Every command that queries a daemon reaches one behind TLS and users, with a file whose
// relative paths begin at its directory. No output has the password.
func TestCommandsReachADaemonBehindTLSAndUsers(t *testing.T) {
	t.Parallel()
	_, config := markerConfig(t)
	_, cert, key := collectortest.Certificate(t, "127.0.0.1", time.Now().Add(time.Hour))
	// The hash is bcrypt's of the password "test", with the least cost.
	web := fmt.Sprintf("tls_server_config: {cert_file: %q, key_file: %q}\nbasic_auth_users: {probe: $2a$04$7b1fWjlDcsAtoR2bqsdmv.t9KQcyyER5rXRkeOWQgHQprQ/bq8zEu}\n", cert, key)
	p := runVitals(t, config, "--web.config.file="+write(t, t.TempDir(), "web.yml", web))
	address := "--url=" + strings.Replace(p.url, "http://", "https://", 1)

	dir := t.TempDir()
	authority, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "ca.crt", string(authority))
	write(t, dir, "password", "test\n")
	write(t, dir, "wrong", "hunter2\n")
	file := func(name, text string) string { return "--http.config.file=" + write(t, dir, name, text) }
	const trust = "tls_config: {ca_file: ca.crt}\n"
	user := file("http.yml", trust+"basic_auth: {username: probe, password_file: password}\n")
	foreign := file("wrong.yml", trust+"basic_auth: {username: probe, password_file: wrong}\n")
	untrusting := file("untrusting.yml", "basic_auth: {username: probe, password: test}\n")
	for _, command := range daemonCommands() {
		for name, c := range map[string]struct {
			file string
			code int
			want string
		}{
			"with the password":     {user, 0, ""},
			"with another password": {foreign, 7, "the daemon requires authentication: status 401"},
			"without the authority": {untrusting, 4, "certificate signed by unknown authority"},
		} {
			var out, errs bytes.Buffer
			args := append(command, "--timeout=10s", address, c.file)
			// wait tries again until its timeout. Its last result may be that of a query which that cut off.
			waits := c.code != 0 && command[0] == "wait"
			if waits {
				args[2] = "--timeout=100ms"
			}
			code := run(args, &out, &errs)
			all := out.String() + errs.String()
			switch {
			case waits && code == 0, !waits && code != c.code, !waits && !strings.Contains(all, c.want), code == 0 && out.Len() == 0:
				t.Errorf("vitals %s %s = %d, %s, want %d and %q", strings.Join(command, " "), name, code, all, c.code, c.want)
			}
			if strings.Contains(all, "hunter2") || strings.Contains(all, "password: test") {
				t.Errorf("vitals %s %s prints a password: %s", strings.Join(command, " "), name, all)
			}
		}
	}
}

// Mistakes are errors of usage, and name the file and the line.
func TestMistakesInTheFileOfCredentials(t *testing.T) {
	dir := t.TempDir()
	unknown := write(t, dir, "unknown.yml", "basic_auth:\n  username: u\n  passwort: hunter2\n")
	authority := write(t, dir, "authority.yml", "tls_config: {ca_file: none.crt}\n")
	for _, command := range daemonCommands() {
		for _, c := range []struct{ flags, want string }{
			{"--url=http://127.0.0.1:1 --http.config.file=" + unknown, "vitals: --http.config.file: " + unknown + `:3: unknown key "passwort"; see vitals ` + command[0] + " --help"},
			{"--url=http://127.0.0.1:1 --http.config.file=" + authority, "vitals: --http.config.file: " + authority + ": unable to read CA cert: unable to read file " + filepath.Join(dir, "none.crt")},
			{"--url=http://127.0.0.1:1 --http.config.file=none.yml", "none.yml: no such file or directory"},
			{"--http.config.file=" + unknown, "--http.config.file is for a daemon at an address: expected --url with it"},
		} {
			var out, errs bytes.Buffer
			code := run(append(command, strings.Fields(c.flags)...), &out, &errs)
			if code != exitConfig || !strings.Contains(errs.String(), c.want) || out.Len() > 0 || strings.Contains(errs.String(), "hunter2") {
				t.Errorf("vitals %s %s = %d, %s%s, want 3 and %q", strings.Join(command, " "), c.flags, code, errs.String(), out.String(), c.want)
			}
		}
	}
}

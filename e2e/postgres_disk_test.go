//go:build e2e

package e2e_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk makes a directory of the user postgres on a file system of 96 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := ownedDirectory(t, "postgres")
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	if out, err := exec.Command("chown", "postgres", dir).CombinedOutput(); err != nil {
		t.Fatalf("chown: %v\n%s", err, out)
	}
	return dir
}

// fillDisk writes a file until there is no space left.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Write() = %v, want no space left", err)
	}
}

// A server whose disk is full answers until it needs space for its log, and ends then. The kind disk
// finds the first, the kind postgres the second.
func TestPostgresDiskFull(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), smallDisk(t)
	p := postgresIn(t, dir, listen)
	p.execute(t, "CREATE ROLE vitals LOGIN PASSWORD 'test-password'", "CREATE TABLE kept (text text)")
	password := filepath.Join(shortDirectory(t, ""), "password")
	if err := os.WriteFile(password, []byte("test-password"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := watch(t, map[string]string{
		"postgres": "postgres: {address: '" + listen + "', username: vitals, password_file: " + password + ", database: postgres, target_session_attrs: read-write}",
		"data":     "disk: {paths: ['" + dir + "']}",
	},
		`{alert: PostgresDown, expr: 'vitals_dependency_up{dependency="postgres"} == 0', labels: {state: ready}}`,
		`{alert: DiskFull, expr: vitals_disk_available_bytes / vitals_disk_size_bytes < 0.01, labels: {state: ready}}`)
	a.staysAlive(t)
	a.recovers(t, "postgres", postgresWell, time.Now())
	filler := filepath.Join(dir, "filler")
	refuses := func(t *testing.T, sql, want string) {
		t.Helper()
		if err := p.try(sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", sql, err, want)
		}
	}
	const insert = "INSERT INTO kept SELECT repeat('x', 1000) FROM generate_series(1, 1000)"
	t.Run("full", func(t *testing.T) {
		fillDisk(t, filler)
		a.fails(t, "DiskFull")
		refuses(t, insert, "No space left on device")
		a.sees(t, "postgres", "", postgresWell)
	})
	t.Run("space again", func(t *testing.T) {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		a.ready(t, http.StatusOK)
		p.execute(t, insert)
	})
	t.Run("ends without space for its log", func(t *testing.T) {
		fillDisk(t, filler)
		refuses(t, "SELECT pg_switch_wal(); CREATE TABLE refused (n int)", "")
		a.breaks(t, "postgres", "refused", "connection refused")
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		p.kill()
		p.start(t)
		p.serves(t)
		a.recovers(t, "postgres", postgresWell, time.Now())
	})
}

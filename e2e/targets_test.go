//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fileTargets is a Vitals with targets in files, which are servers of Redis.
type fileTargets struct {
	a   tcpAsking
	dir string
	// servers are the targets, and addresses and names are theirs.
	servers          []*tcpServer
	addresses, names []string
}

func newFileTargets(t *testing.T) fileTargets {
	t.Helper()
	f := fileTargets{dir: shortDirectory(t, "")}
	for range 3 {
		listen := address(t)
		f.servers = append(f.servers, redisServer(t, listen, shortDirectory(t, ""), "--save", ""))
		f.addresses = append(f.addresses, listen)
		f.names = append(f.names, strings.ReplaceAll(listen, ":", "-"))
	}
	f.write(t, "a.yml", fmt.Sprintf("- {targets: [%q], labels: {name: cache-primary}}\n- {targets: [%q]}\n", f.addresses[0], f.addresses[1]))
	f.a = watch(t, map[string]string{"cache": "tcp: {protocol: redis, discovery: {files: ['" + f.dir + "/*.yml', '" + f.dir + "/*.json']}}"},
		`{alert: TargetDown, expr: 'vitals_dependency_up{dependency=~"cache-.*"} == 0', labels: {state: ready}, annotations: {no_data: pass}}`,
		`{alert: TargetsMissing, expr: vitals_discovery_targets < 1, labels: {state: ready}}`)
	f.a.staysAlive(t)
	return f
}

// write replaces a file of the discovery at once, as a rename does.
func (f fileTargets) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	err := os.WriteFile(path+".new", []byte(text), 0o644)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// has waits until exactly these targets are there, and are up.
func (f fileTargets) has(t *testing.T, dropped float64, names ...string) {
	t.Helper()
	await(t, fmt.Sprint("the targets are ", names), discoveryWithin, func() error {
		m, err := f.a.metrics()
		if err != nil {
			return err
		}
		return m.targets("cache", dropped, names...)
	})
	f.a.ready(t, http.StatusOK)
}

// keeps waits until the discovery fails, names the place, and still has so many targets.
func (f fileTargets) keeps(t *testing.T, place string, targets float64) {
	t.Helper()
	await(t, "the last targets stay", discoveryWithin, func() error {
		m, err := f.a.metrics()
		if err != nil {
			return err
		}
		_, status, err := f.a.get("/api/v1/status")
		var snapshot struct {
			Collectors []struct{ Name, Error string }
		}
		if err == nil {
			err = json.Unmarshal([]byte(status), &snapshot)
		}
		if err != nil {
			return err
		}
		if len(snapshot.Collectors) != 1 || !strings.Contains(snapshot.Collectors[0].Error, place) {
			err = fmt.Errorf("the collectors are %v, want one with an error at %s", snapshot.Collectors, place)
		}
		return errors.Join(err, m.want(0, "vitals_discovery_up", "collector", "cache"), m.want(targets, "vitals_discovery_targets", "collector", "cache"))
	})
}

// stops kills a target, whose fault fails ready, and starts it again.
func (f fileTargets) stops(t *testing.T, target int) {
	t.Helper()
	f.servers[target].kill()
	f.a.fails(t, "TargetDown")
	f.servers[target].start(t)
	f.a.ready(t, http.StatusOK)
}

// Targets join and leave with the files, and a broken file keeps its last ones.
func TestTargetsInFiles(t *testing.T) {
	t.Parallel()
	f := newFileTargets(t)
	t.Run("found", func(t *testing.T) { f.has(t, 0, "primary", f.names[1]) })
	t.Run("added", func(t *testing.T) {
		// The second one has the name of another target.
		f.write(t, "b.json", fmt.Sprintf(`[{"targets": [%q]}, {"targets": [%[1]q], "labels": {"name": "cache-primary"}}]`, f.addresses[2]))
		f.has(t, 1, "primary", f.names[1], f.names[2])
		f.stops(t, 2)
	})
	t.Run("removed", func(t *testing.T) {
		f.write(t, "a.yml", fmt.Sprintf("- {targets: [%q], labels: {name: cache-primary}}\n", f.addresses[0]))
		f.has(t, 1, "primary", f.names[2])
		f.servers[1].kill() // has no effect now
		f.a.ready(t, http.StatusOK)
	})
	t.Run("file broken", func(t *testing.T) {
		f.write(t, "a.yml", "- targets: []\n- target: [x]\n")
		f.keeps(t, "a.yml:2:3", 2)
		f.a.ready(t, http.StatusOK)
		f.stops(t, 0)
	})
	t.Run("file empty", func(t *testing.T) {
		f.write(t, "a.yml", "")
		f.keeps(t, "a.yml: the file is empty", 2)
	})
	t.Run("file repaired", func(t *testing.T) {
		f.servers[1].start(t)
		f.write(t, "a.yml", fmt.Sprintf("- {targets: [%q, %q]}\n", f.addresses[0], f.addresses[1]))
		f.write(t, "b.json", fmt.Sprintf(`[{"targets": [%q]}]`, f.addresses[2]))
		f.has(t, 0, f.names...)
	})
	t.Run("file gone", func(t *testing.T) {
		if err := os.Remove(filepath.Join(f.dir, "b.json")); err != nil {
			t.Fatal(err)
		}
		f.has(t, 0, f.names[0], f.names[1])
	})
	t.Run("no targets", func(t *testing.T) {
		f.write(t, "a.yml", "[]\n")
		f.a.fails(t, "TargetsMissing")
	})
}

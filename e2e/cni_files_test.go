//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCNIConfiguration breaks the files that the installation leaves on a node, as an
// interrupted or careless one does. Who wrote them has to write them again.
func TestCNIConfiguration(t *testing.T) {
	t.Parallel()
	m := startCNI(t, cniOptions{})
	await(t, "healthy", cniWithin, m.healthy)
	m.staysAlive(t)
	truncate := func(size int64) func(string) error { return func(path string) error { return os.Truncate(path, size) } }
	for _, f := range []struct {
		name, file string
		fault      func(path string) error
		fails      string
	}{
		{"the CNI configuration is missing", "10-kuryr.conflist", os.Remove, "CNIConfigBroken failing: The CNI configuration is missing"},
		{"the CNI configuration is cut off", "10-kuryr.conflist", truncate(40), "CNIConfigBroken failing: "},
		{"the plugin is missing", "kuryr-cni", os.Remove, "CNIPluginBroken failing: The CNI plugin is missing"},
		{"the plugin is empty", "kuryr-cni", truncate(0), "CNIPluginBroken failing: "},
		{"the plugin cannot be executed", "kuryr-cni", func(path string) error { return os.Chmod(path, 0o644) }, "CNIPluginBroken failing: "},
		{"kuryr.conf is missing", "kuryr.conf", os.Remove, "KuryrConfBroken failing: kuryr.conf is missing"},
		{"kuryr.conf is cut off", "kuryr.conf", truncate(5), "KuryrConfBroken failing: "},
	} {
		path := filepath.Join(m.dir, f.file)
		text := read(t, path)
		if err := f.fault(path); err != nil {
			t.Fatal(err)
		}
		await(t, f.name, cniWithin, func() error { return m.state("ready", f.fails) })
		write(t, path, text)
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		await(t, f.name+": it is written again", cniWithin, m.healthy)
	}
}

//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// changedConfiguration is what an operator adds to the configuration of the package.
const changedConfiguration = "# changed by the operator\n"

// changeConfiguration changes the configuration below a root.
func changeConfiguration(t *testing.T, root string) {
	t.Helper()
	path := filepath.Join(root, "etc/vitals/vitals.yml")
	write(t, path, read(t, path)+changedConfiguration)
}

// isUpgraded fails unless a package has replaced the programs and what the operator has not changed,
// has kept what the operator has changed, and has put its own next to it.
func isUpgraded(t *testing.T, root, offered string) {
	t.Helper()
	if got, want := command(t, root, nil, "usr/bin/vitals", "version"), "vitals, version "+nextVersion+" "; !strings.HasPrefix(got, want) {
		t.Errorf("vitals version = %q after the upgrade, want %q first", got, want)
	}
	etc := filepath.Join(root, "etc/vitals")
	if got := read(t, filepath.Join(etc, "vitals.yml")); !strings.HasSuffix(got, changedConfiguration) || strings.Contains(got, nextComment) {
		t.Errorf("vitals.yml after the upgrade is\n%s\nwant that of the operator", got)
	}
	if got := read(t, filepath.Join(etc, offered)); !strings.HasPrefix(got, nextComment) {
		t.Errorf("%s is\n%s\nwant that of the new package", offered, got)
	}
	if got := read(t, filepath.Join(etc, "rules.yml")); !strings.HasPrefix(got, nextComment) {
		t.Errorf("rules.yml after the upgrade is\n%s\nwant that of the new package", got)
	}
}

// debianPackage installs the package below a directory as README.md does, uses it, upgrades it and
// removes it.
func debianPackage(t *testing.T, one, next string) {
	root := shortDirectory(t, "")
	for _, dir := range []string{"updates", "info", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, "var/lib/dpkg/status"), "")
	dpkg := func(args ...string) {
		t.Helper()
		command(t, filepath.Dir(one), nil, "dpkg", append([]string{"--root=" + root, "--force-script-chrootless", "--log=/dev/null"}, args...)...)
	}
	dpkg(strings.Fields(installLine(t, debianLine))[1:]...)
	isRelease(t, filepath.Join(root, "usr/bin/vitals"))
	command(t, root, nil, "usr/bin/vitals-healthcheck", "--help")
	command(t, root, nil, "usr/bin/vitals", "check", "config", "etc/vitals/vitals.yml")
	command(t, root, nil, "bash", "-n", "usr/share/bash-completion/completions/vitals")
	hasUnit(t, root)
	isManual(t, root)
	changeConfiguration(t, root)
	dpkg("--force-confdef", "--install", filepath.Join(next, "vitals_"+nextVersion+"_amd64.deb"))
	isUpgraded(t, root, "vitals.yml.dpkg-dist")
	dpkg("--purge", "vitals")
	for _, name := range []string{"usr/bin/vitals", "etc/vitals/vitals.yml"} {
		if _, err := os.Stat(filepath.Join(root, name)); !os.IsNotExist(err) {
			t.Errorf("Stat(%s) = %v after the package is purged, want none", name, err)
		}
	}
}

// hasUnit fails unless the unit below a root starts the program of the package.
func hasUnit(t *testing.T, root string) {
	t.Helper()
	if unit := read(t, filepath.Join(root, "usr/lib/systemd/system/vitals.service")); !strings.Contains(unit, "ExecStart=/usr/bin/vitals run --config.file=/etc/vitals/vitals.yml\n") {
		t.Errorf("the unit of the package is\n%swant one that starts /usr/bin/vitals", unit)
	}
}

// isManual fails unless man shows the manual page without a warning.
func isManual(t *testing.T, root string) {
	t.Helper()
	page := command(t, root, []string{"MANWIDTH=100", "LC_ALL=C.UTF-8"}, "man", "--warnings", "--local-file", "usr/share/man/man1/vitals.1.gz")
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "troff:") || strings.HasPrefix(line, "man:") {
			t.Errorf("the manual page has a mistake: %s", line)
		}
	}
	if !strings.Contains(page, "vitals explain") || !strings.Contains(page, "--web.listen-address") {
		t.Errorf("the manual page is\n%s\nwant one with commands and flags", page)
	}
}

// rpmPackage installs the package below a directory as README.md does, uses it, upgrades it and
// removes it. Its scripts run there, with the shell of this machine.
func rpmPackage(t *testing.T, one, next string) {
	root := shortDirectory(t, "")
	command(t, "/", nil, "sh", "-ec", `for f in /bin/sh $(ldd /bin/sh | grep -o '/[^ ]*'); do cp --parents --dereference "$f" "$1"; done`, "sh", root)
	flags := []string{"--root=" + root, "--dbpath=/var/lib/rpm"}
	rpm := func(args ...string) string {
		t.Helper()
		return command(t, filepath.Dir(one), nil, "rpm", append(flags, args...)...)
	}
	scripts := func(out string) {
		t.Helper()
		if strings.Contains(out, "scriptlet") {
			t.Errorf("rpm prints %q, want no message about a script", out)
		}
	}
	scripts(rpm(strings.Fields(installLine(t, rpmLine))[1:]...))
	isRelease(t, filepath.Join(root, "usr/bin/vitals"))
	command(t, root, nil, "usr/bin/vitals", "check", "config", "etc/vitals/vitals.yml")
	hasUnit(t, root)
	isManual(t, root)
	if out := rpm("--verify", "vitals"); strings.Contains(out, "vitals") {
		t.Errorf("rpm --verify reports\n%s\nwant every file with the bytes, the mode and the owner of the package", out)
	}
	changeConfiguration(t, root)
	out, err := exec.Command("rpm", append(flags, "--verify", "vitals")...).CombinedOutput()
	if changed := "  c /etc/vitals/vitals.yml"; err == nil || !strings.Contains(string(out), changed) {
		t.Errorf("rpm --verify = %v and\n%s\nwant an error and %q", err, out, changed)
	}
	scripts(rpm("--upgrade", filepath.Join(next, "vitals-"+nextVersion+"-1.x86_64.rpm")))
	isUpgraded(t, root, "vitals.yml.rpmnew")
	scripts(rpm("--erase", "vitals"))
	for _, name := range []string{"usr/bin/vitals", "usr/lib/systemd/system/vitals.service", "etc/vitals/rules.yml"} {
		if _, err := os.Stat(filepath.Join(root, name)); !os.IsNotExist(err) {
			t.Errorf("Stat(%s) = %v after the package is erased, want none", name, err)
		}
	}
	if got := read(t, filepath.Join(root, "etc/vitals/vitals.yml.rpmsave")); !strings.HasSuffix(got, changedConfiguration) {
		t.Errorf("vitals.yml.rpmsave is\n%s\nwant the configuration of the operator", got)
	}
}

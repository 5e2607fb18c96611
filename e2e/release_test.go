//go:build e2e

package e2e_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The version, commit and time that the tests release, so that the tree need not be a clone.
const (
	releaseVersion  = "1.2.3"
	releaseRevision = "0123456789abcdef0123456789abcdef01234567"
	releaseTime     = "SOURCE_DATE_EPOCH=1700000000"
)

// makeRelease makes a release for amd64 from a tree. The command is one that runs the rest of its
// arguments in a shell.
func makeRelease(t *testing.T, tree string, environment []string, shell ...string) string {
	t.Helper()
	out := filepath.Join(shortDirectory(t, ""), "dist")
	script := `go run -C .ci/release . all -platforms=linux/amd64 -version=` + releaseVersion + ` -revision=` + releaseRevision + ` -out=` + out
	args := append(shell, script)
	command(t, tree, append(environment, releaseTime), args[0], args[1:]...)
	return out
}

// copiedTree is a copy of the files of the repository that git has, or would add.
func copiedTree(t *testing.T) string {
	t.Helper()
	dir := shortDirectory(t, "")
	command(t, "..", nil, "sh", "-c", `git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create | tar --extract --directory="$1"`, "sh", dir)
	return dir
}

// A release has the same bytes from another directory, later, on a host of another name, in
// another time zone and language, and with another umask. What it has works.
func TestRelease(t *testing.T) {
	t.Parallel()
	one := makeRelease(t, "..", nil, "sh", "-c")
	two := makeRelease(t, copiedTree(t), []string{"TZ=Asia/Tokyo", "LANG=de_DE.UTF-8", "USER=other", "LOGNAME=other", "GOFLAGS="},
		"unshare", "--uts", "sh", "-c", `hostname other && umask 077 && exec sh -c "$0"`)
	t.Run("the same bytes twice", func(t *testing.T) { sameFiles(t, one, two) })
	t.Run("checksums", func(t *testing.T) { command(t, one, nil, "sha256sum", "--check", "--strict", "SHA256SUMS") })
	t.Run("archive", func(t *testing.T) {
		dir := shortDirectory(t, "")
		name := "vitals-" + releaseVersion + ".linux-amd64"
		command(t, dir, nil, "tar", "--extract", "--file="+filepath.Join(one, name+".tar.gz"))
		isRelease(t, filepath.Join(dir, name, "vitals"))
		command(t, filepath.Join(dir, name), nil, "./vitals", "check", "config", "example/vitals.yml")
	})
	t.Run("deb", func(t *testing.T) { debianPackage(t, filepath.Join(one, "vitals_"+releaseVersion+"_amd64.deb")) })
	t.Run("image", func(t *testing.T) { releasedImage(t, filepath.Join(one, "vitals-image.tar")) })
}

// sameFiles fails unless two directories have the same files.
func sameFiles(t *testing.T, one, two string) {
	t.Helper()
	entries, err := os.ReadDir(one)
	if err != nil {
		t.Fatal(err)
	}
	others, err := os.ReadDir(two)
	if err != nil || len(entries) < 6 || len(others) != len(entries) {
		t.Fatalf("%d and %d files, %v, want the same, at least 6", len(entries), len(others), err)
	}
	for _, entry := range entries {
		a, errA := os.ReadFile(filepath.Join(one, entry.Name()))
		b, errB := os.ReadFile(filepath.Join(two, entry.Name()))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has %d and %d bytes (%v, %v), want the same bytes", entry.Name(), len(a), len(b), errA, errB)
		}
	}
}

// isRelease fails unless the program reports what it was made of.
func isRelease(t *testing.T, program string) {
	t.Helper()
	if got, want := command(t, ".", nil, program, "version"), "vitals, version "+releaseVersion+" (revision: "+releaseRevision+")\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%s version = %q, want %q first", program, got, want)
	}
}

// debianPackage installs the package below a directory, uses it and removes it.
func debianPackage(t *testing.T, path string) {
	root := shortDirectory(t, "")
	for _, dir := range []string{"updates", "info", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, "var/lib/dpkg/status"), "")
	dpkg := func(args ...string) {
		t.Helper()
		command(t, root, nil, "dpkg", append([]string{"--root=" + root, "--force-script-chrootless", "--log=/dev/null"}, args...)...)
	}
	dpkg("--install", path)
	isRelease(t, filepath.Join(root, "usr/bin/vitals"))
	command(t, root, nil, "usr/bin/vitals-healthcheck", "--help")
	command(t, root, nil, "usr/bin/vitals", "check", "config", "etc/vitals/vitals.yml")
	command(t, root, nil, "bash", "-n", "usr/share/bash-completion/completions/vitals")
	if unit := read(t, filepath.Join(root, "usr/lib/systemd/system/vitals.service")); !strings.Contains(unit, "ExecStart=/usr/bin/vitals run --config.file=/etc/vitals/vitals.yml\n") {
		t.Errorf("the unit of the package is\n%swant one that starts /usr/bin/vitals", unit)
	}
	page := command(t, root, []string{"MANWIDTH=100", "LC_ALL=C.UTF-8"}, "man", "--warnings", "--local-file", "usr/share/man/man1/vitals.1.gz")
	for _, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "troff:") || strings.HasPrefix(line, "man:") {
			t.Errorf("the manual page has a mistake: %s", line)
		}
	}
	if !strings.Contains(page, "vitals explain") || !strings.Contains(page, "--web.listen-address") {
		t.Errorf("the manual page is\n%s\nwant one with commands and flags", page)
	}
	dpkg("--purge", "vitals")
	if _, err := os.Stat(filepath.Join(root, "usr/bin/vitals")); !os.IsNotExist(err) {
		t.Errorf("Stat(usr/bin/vitals) = %v after the package is removed, want none", err)
	}
}

// releasedImage runs the image, read-only and without rights.
func releasedImage(t *testing.T, path string) {
	p := newPodman(t)
	if _, err := p.run("load", "--input="+path); err != nil {
		t.Fatal(err)
	}
	listen := address(t)
	p.start(t, "demo", "docker.io/library/vitals:"+releaseVersion, "--", "demo", "--web.listen-address="+listen, "--web.unix-socket=")
	d := daemon{&program{url: "http://" + listen}}
	await(t, "the image serves", time.Minute, func() error { return d.want("/alive", http.StatusOK) })
	out, err := p.run("inspect", "demo", `--format={{index .Config.Labels "org.opencontainers.image.revision"}} {{.Config.User}}`)
	if want := releaseRevision + " 65532:65532\n"; err != nil || out != want {
		t.Errorf("the image has %q, %v, want %q", out, err, want)
	}
}

// The programs install from the tree.
func TestGoInstall(t *testing.T) {
	t.Parallel()
	dir := shortDirectory(t, "")
	command(t, "..", []string{"GOBIN=" + dir, "CGO_ENABLED=0"}, "go", "install", "-tags", "grpcnotrace", "./cmd/vitals", "./cmd/healthcheck")
	if got := command(t, dir, nil, "./vitals", "version"); !strings.HasPrefix(got, "vitals, version ") {
		t.Errorf("vitals version = %q", got)
	}
	command(t, dir, nil, "./healthcheck", "--help")
}

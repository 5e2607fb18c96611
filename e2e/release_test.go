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
	t.Run("image", func(t *testing.T) { releasedImage(t, filepath.Join(one, "vitals-image.tar")) })
	next := runWorkflow(t)
	t.Run("files of the workflow", next.hasFiles)
	for name, test := range map[string]func(t *testing.T){
		"deb":    func(t *testing.T) { debianPackage(t, one, next.dist) },
		"rpm":    func(t *testing.T) { rpmPackage(t, one, next.dist) },
		"docker": func(t *testing.T) { releasedWithDocker(t, one) },
		"arm64":  next.runsOnARM64,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
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

// The programs install from the tree, with the command of README.md.
func TestGoInstall(t *testing.T) {
	t.Parallel()
	dir := shortDirectory(t, "")
	command(t, "..", []string{"GOBIN=" + dir, "CGO_ENABLED=0"}, "sh", "-c", installLine(t, goLine))
	if got := command(t, dir, nil, "./vitals", "version"); !strings.HasPrefix(got, "vitals, version ") {
		t.Errorf("vitals version = %q", got)
	}
	command(t, dir, nil, "./healthcheck", "--help")
}

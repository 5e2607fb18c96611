package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// versions is the package whose variables hold what "vitals version" prints.
const versions = "github.com/prometheus/common/version"

// source is the tree that a release is made of.
type source struct {
	root              string
	version, revision string
	// tag is that of the image; empty for the version.
	tag string
	// at is the time of every file of the release.
	at time.Time
}

// platform is an operating system and an architecture, in Go's names.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatforms reads a list such as linux/amd64,linux/arm64.
func parsePlatforms(list string) ([]platform, error) {
	var all []platform
	for name := range strings.SplitSeq(list, ",") {
		system, arch, ok := strings.Cut(name, "/")
		if !ok || system == "" || arch == "" {
			return nil, fmt.Errorf("-platforms: %q is not a platform such as linux/amd64", name)
		}
		all = append(all, platform{system, arch})
	}
	return all, nil
}

// newSource describes the tree in a directory. What is not given comes from git.
func newSource(root, version, revision string) (source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return source{}, err
	}
	s := source{root: root, version: version, revision: revision}
	epoch := os.Getenv("SOURCE_DATE_EPOCH") // https://reproducible-builds.org/specs/source-date-epoch/
	for _, from := range []struct {
		value *string
		args  []string
	}{
		{&s.version, []string{"describe", "--tags", "--always", "--dirty"}},
		{&s.revision, []string{"rev-parse", "HEAD"}},
		{&epoch, []string{"log", "-1", "--format=%ct"}},
	} {
		if *from.value != "" {
			continue
		}
		if *from.value, err = s.git(from.args...); err != nil {
			return s, fmt.Errorf("%w; without git, give -version, -revision and SOURCE_DATE_EPOCH", err)
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return s, fmt.Errorf("SOURCE_DATE_EPOCH=%q: expected seconds since 1970", epoch)
	}
	s.at = time.Unix(seconds, 0).UTC()
	s.version = strings.TrimPrefix(s.version, "v")
	return s, nil
}

func (s source) git(args ...string) (string, error) {
	out, err := s.output(nil, "git", args...)
	return strings.TrimSpace(string(out)), err
}

// output runs a program in the tree and returns what it prints.
func (s source) output(environment []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), environment...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, cmp.Or(strings.TrimSpace(stderr.String()), "no message"))
	}
	return out, nil
}

// build returns one of the programs, static and stripped. Nothing of the machine, the user and the
// directory gets into it.
func (s source) build(p platform, program string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "vitals-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, program)
	flags := "-s -w"
	args := []string{"build", "-trimpath", "-buildvcs=false"}
	if program == "vitals" {
		args = append(args, "-tags=grpcnotrace")
		flags += fmt.Sprintf(" -X %[1]s.Version=%[2]s -X %[1]s.Revision=%[3]s", versions, s.version, s.revision)
	}
	_, err = s.output(p.environment(), "go", append(args, "-ldflags="+flags, "-o", to, "./cmd/"+program)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return os.ReadFile(to)
}

// environment are the variables of Go's tools for the platform, with the defaults of everything
// else that would change the programs.
func (p platform) environment() []string {
	return []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off"}
}

// programs are the two programs of the platform.
func (s source) programs(p platform) ([]file, error) {
	var all []file
	for _, name := range []string{"healthcheck", "vitals"} {
		data, err := s.build(p, name)
		if err != nil {
			return nil, err
		}
		if p.os == "windows" {
			name += ".exe"
		}
		all = append(all, file{name, executable, data})
	}
	return all, nil
}

// licences are the licence of Vitals, and those of all that is linked into the programs.
func (s source) licences(p platform) ([]file, error) {
	own, err := os.ReadFile(filepath.Join(s.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	notices, err := s.output(p.environment(), filepath.Join(s.root, "deploy", "notices.sh"))
	return []file{{"LICENSE", readable, own}, {"THIRD_PARTY_NOTICES", readable, notices}}, err
}

//go:build e2e

package e2e_test

import (
	"strings"
	"testing"
)

// The commands of "Install it" in README.md begin with these. The tests of this package run each of
// them, and those of the chart the one for Kubernetes.
const (
	debianLine  = "dpkg -i "
	rpmLine     = "rpm -i "
	dockerLine  = "docker load "
	composeLine = "VITALS_VERSION=" + releaseVersion + " docker compose "
	helmLine    = "helm install "
	goLine      = "go install "
)

// installLines returns the commands of "Install it" in README.md, without comments.
func installLines(t *testing.T) []string {
	t.Helper()
	_, section, _ := strings.Cut(read(t, "../README.md"), "\n## Install it\n")
	_, section, _ = strings.Cut(section, "```sh\n")
	block, _, ok := strings.Cut(section, "```")
	if !ok {
		t.Fatal("README.md has no block of commands below Install it, want one")
	}
	var lines []string
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, " # ")
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// installLine returns the command of README.md that begins with a prefix.
func installLine(t *testing.T, prefix string) string {
	t.Helper()
	for _, line := range installLines(t) {
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
	t.Fatalf("README.md has no command that begins with %q, want one", prefix)
	return ""
}

// README.md has each way to install once, and none that no test runs.
func TestInstallLines(t *testing.T) {
	ways := []string{debianLine, rpmLine, dockerLine, composeLine, helmLine, goLine}
	lines := installLines(t)
	for _, way := range ways {
		installLine(t, way)
	}
	if len(lines) != len(ways) {
		t.Errorf("README.md has the commands %q, want one for each of %q", lines, ways)
	}
}

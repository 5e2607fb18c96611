package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
)

// versionCommand declares the command version.
func (p *program) versionCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("version", "Print the version, the commit, and what the program was built with and for.")
	cmd.Action(do(func() int {
		fmt.Fprintln(p.stdout, versionText())
		return exitOK
	}))
}

// versionText has what identifies the program. Nothing in it depends on the user, the machine and
// the time of the build.
func versionText() string {
	return fmt.Sprintf("vitals, version %s (revision: %s)\n  go version: %s\n  platform:   %s/%s\n  tags:       %s",
		cmp.Or(version.Version, moduleVersion(), "unknown"), version.GetRevision(), runtime.Version(), runtime.GOOS, runtime.GOARCH, version.GetTags())
}

// moduleVersion is the version that go install has built, such as v1.2.3; empty in other builds.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" {
		return ""
	}
	return info.Main.Version
}

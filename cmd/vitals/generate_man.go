package main

import (
	"cmp"
	"fmt"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/vitals-health/vitals/internal/manpage"
)

// generateMan declares the command generate man.
func (p *program) generateMan(app *kingpin.Application, generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("man", "Print the manual page vitals(1): all commands and flags.")
	cmd.Action(do(func() int {
		fmt.Fprint(p.stdout, manpage.Render(app.Model(), cmp.Or(version.Version, moduleVersion())))
		return exitOK
	}))
}

package main

import (
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/rbac"
)

// generateRBAC declares the command generate rbac.
func (p *program) generateRBAC(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("rbac", "Print the roles of Kubernetes, with their bindings, that grant what the collectors of a configuration and the reports of these flags need, and no more.")
	p.configFlags(cmd)
	p.kubernetesFlags(cmd)
	var to rbac.Account
	cmd.Flag("name", "The name of the roles and bindings.").Default("vitals").StringVar(&to.Name)
	cmd.Flag("service-account", "The service account of Vitals.").Default("vitals").StringVar(&to.ServiceAccount)
	cmd.Flag("namespace", "The namespace of Vitals' pod and service account.").Default("default").StringVar(&to.Namespace)
	cmd.Action(do(func() int {
		l, errs := p.load()
		if len(errs) > 0 {
			return p.fail(errs...)
		}
		var kinds []collectors.Kind
		for _, c := range l.Config.Collectors {
			_, kind := c.Kind()
			kinds = append(kinds, kind)
		}
		objects := rbac.Objects(append(rbac.Of(kinds), p.kubernetes.Rights(to.Namespace)...), to)
		if objects == "" {
			fmt.Fprintln(p.stderr, "no collector and no report needs a right: set automountServiceAccountToken: false")
		}
		fmt.Fprint(p.stdout, objects)
		return exitOK
	}))
}

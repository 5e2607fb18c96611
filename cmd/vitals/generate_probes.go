package main

import (
	"cmp"
	"fmt"
	"net"
	"strconv"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/probes"
	"github.com/vitals-health/vitals/internal/rulecheck"
)

// probeOutput has the flags of generate probes.
type probeOutput struct {
	probes.Options
	// container is the container of the workload; empty for probes without a container.
	// vitals is that of Vitals.
	container, vitals string
}

// generateProbes declares the command generate probes.
func (p *program) generateProbes(generate *kingpin.CmdClause, do func(func() int) kingpin.Action) {
	cmd := generate.Command("probes", "Print the probes of Kubernetes that fit a configuration and its rules: those of the workload's container, and that of Vitals' container. Comments have the time until each of them acts.")
	p.configFlags(cmd)
	var o probeOutput
	cmd.Flag("type", "How the kubelet queries Vitals: http, grpc, or exec, which runs healthcheck in the workload's container.").Default(string(probes.HTTP)).EnumVar((*string)(&o.Type), probes.Types()...)
	cmd.Flag("port", "The port of the probes. By default that of the configuration.").PlaceHolder("PORT").IntVar(&o.Port)
	cmd.Flag("vitals-port", "The port of Vitals' own probe, /-/healthy. By default that of the other probes.").PlaceHolder("PORT").IntVar(&o.OwnPort)
	cmd.Flag("host", "The host of HTTP probes, such as 127.0.0.1 for a pod with hostNetwork. By default the pod's address.").PlaceHolder("HOST").StringVar(&o.Host)
	cmd.Flag("command", "With --type=exec: the path of healthcheck in the workload's container.").Default("healthcheck").StringVar(&o.Command)
	cmd.Flag("container", "Print a patch of a Deployment, DaemonSet or StatefulSet with this container, for kubectl patch --patch-file, instead of the probes alone.").PlaceHolder("NAME").StringVar(&o.container)
	cmd.Flag("vitals-container", "With --container: the container of Vitals; empty for a patch without it.").Default("vitals").StringVar(&o.vitals)
	cmd.Action(do(func() int { return p.printProbes(o) }))
}

// printProbes is the command generate probes.
func (p *program) printProbes(o probeOutput) int {
	l, errs := p.load()
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	if err := o.setPorts(&l.Config.Server); err != nil {
		return p.fail(err)
	}
	set, err := probes.Of(rulecheck.ProbeFacts(l), o.Options)
	if err != nil {
		return p.fail(err)
	}
	fmt.Fprintf(p.stdout, "# Made by vitals generate probes, for vitals run with\n# --on-config-error=serve%s\n", o.listenFlags())
	if o.container != "" {
		fmt.Fprint(p.stdout, set.Patch(o.container, o.vitals))
		return exitOK
	}
	fmt.Fprintf(p.stdout, "# For the container of the workload:\n%s---\n# For the container of Vitals:\n%s", set.Workload(), set.Vitals())
	return exitOK
}

// setPorts sets the ports that no flag gives to that of the configuration.
func (o *probeOutput) setPorts(server *config.ServerConfig) error {
	port, remote := server.Reachable()
	if o.Port == 0 && o.Type == probes.Exec {
		o.Port = o.OwnPort // the only one that is used
	}
	if o.Port == 0 && (port == 0 || !remote && o.Host == "") {
		return fmt.Errorf("the configuration listens on %s, which a kubelet cannot reach: give --port=8080, and start Vitals with --probe.listen-address=:8080", server.ListenAddress)
	}
	o.Port = cmp.Or(o.Port, port)
	o.OwnPort = cmp.Or(o.OwnPort, o.Port)
	return nil
}

// listenFlags returns the flags of Vitals for the listeners that the probes need, each after
// a space.
func (o *probeOutput) listenFlags() string {
	flags := ""
	if o.Type == probes.GRPC && o.OwnPort != o.Port {
		flags = fmt.Sprintf(" --grpc.listen-address=:%d", o.Port)
	}
	return flags + " --probe.listen-address=" + net.JoinHostPort(o.Host, strconv.Itoa(o.OwnPort))
}

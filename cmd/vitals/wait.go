package main

import (
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/client"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/listen"
)

// waitCommand declares the command wait.
func (p *program) waitCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("wait", "Query the daemon for STATE until the state is ok or warning, or the timeout expires. After the timeout, print the last reason and exit with its code. A daemon that is unreachable counts as a state that is not ok yet. Changes in between are printed to stderr.")
	w := &client.Wait{Progress: p.stderr}
	var style string
	var daemon client.Daemon
	cmd.Arg("state", "The state to wait for; ready when none is given.").Default("ready").StringVar(&w.State)
	cmd.Flag("timeout", "How long to wait in total.").Default("5m").DurationVar(&w.Timeout)
	cmd.Flag("interval", "How long to wait between two queries.").Default("1s").DurationVar(&w.Interval)
	p.daemonFlags(cmd, &daemon)
	cmd.Flag("style", "Exit codes and output of the exec probe: plain, docker, sonic or nagios.").Default(string(execprobe.Plain)).EnumVar(&style, styles()...)
	cmd.Action(do(func() int {
		w.Style = execprobe.Style(style)
		result, err := w.Run(&daemon)
		if err != nil {
			result = execprobe.Result{Outcome: execprobe.Usage, Text: err.Error()}
		}
		return p.print(w.Style, result)
	}))
}

// daemonFlags declares the flags that select the daemon to query.
func (p *program) daemonFlags(cmd *kingpin.CmdClause, d *client.Daemon) {
	cmd.Flag("socket", "The daemon's Unix socket. Where nothing listens on the default one, $XDG_RUNTIME_DIR/vitals.sock is tried, and for reading "+client.LocalAddress+".").Default(listen.DefaultSocket).StringVar(&d.Socket)
	cmd.Flag("url", "Query the daemon at this address instead, such as http://host:8080.").PlaceHolder("URL").StringVar(&d.Address)
	cmd.Flag("http.config.file", "With --url: credentials and TLS for the daemon's --web.config.file, in the format of http_config of Prometheus.").PlaceHolder("FILE").StringVar(&d.HTTPConfigFile)
	cmd.PreAction(func(*kingpin.ParseContext) error {
		setOthers(d)
		return d.Configure(p.secrets.Add)
	})
}

// setOthers sets where a daemon without flags may listen, if the socket is the default one.
func setOthers(d *client.Daemon) {
	if d.Socket == listen.DefaultSocket {
		d.Others, d.Local = []string{listen.UserSocket(os.Getenv)}, client.LocalAddress
	}
}

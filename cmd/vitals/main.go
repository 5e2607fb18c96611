// Command vitals evaluates the health of a workload: it collects gauges, judges
// them by rules in Prometheus' format and serves the verdicts as probe endpoints.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// The exit codes of every command.
const (
	exitOK      = 0
	exitFailing = 1
	exitUnknown = 2
	exitConfig  = 3
)

// defaultListen is where run listens where neither a flag nor the configuration says it.
const defaultListen = ":8080"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// program holds what the commands share.
type program struct {
	stdout, stderr io.Writer
	log            *promslog.Config

	configFile, profile, kuryrConf string
	set                            map[string]string
	// fromEnvironment are the names in set that no flag gave.
	fromEnvironment map[string]bool
	poll            time.Duration

	web           *web.FlagConfig
	levelGiven    bool
	listenGiven   bool
	socket        socketFlags
	probeAddress  string
	lifecycle     bool
	shutdownDelay time.Duration
	// adjust, where set, changes the profile's configuration after the flags did.
	adjust func(*Config)
	// welcome, where set, is printed once the process listens; it takes the base URL.
	welcome string
}

func (p *program) logger() *slog.Logger { return promslog.New(p.log) }

const help = `Health evaluator: collectors measure, rules in Prometheus' alerting-rule format judge, and probes, metrics and alerts read one truth.

Start with "vitals demo" and open the address that it prints. Then write a configuration, or print a shipped one with "vitals profiles show NAME", check it with "vitals check config FILE", and start "vitals run --config.file=FILE".

Exit codes: 0 ok, 1 failing, 2 unknown, 3 usage or configuration, 10-119 the exit_code of the rule that decides.`

// run is main with its surroundings as arguments; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) (code int) {
	out := &printed{to: stdout}
	defer func() { code = out.complete(code, stderr) }()
	p := &program{stdout: out, stderr: stderr, log: &promslog.Config{Writer: stderr}}
	app := kingpin.New("vitals", help).UsageWriter(out).ErrorWriter(stderr)
	app.Terminate(func(status int) { panic(terminated(status)) })
	app.HelpFlag.Short('h')
	app.Version(version.Print("vitals")).VersionFlag.Short('v')
	promslogflag.AddFlags(app, p.log)
	app.GetFlag(promslogflag.LevelFlagName).IsSetByUser(&p.levelGiven)

	defer func() {
		switch r := recover().(type) {
		case nil:
		case terminated:
			code = int(r)
		default:
			if !out.causes(r) {
				panic(r)
			}
		}
	}()
	p.commands(app, func(f func() int) kingpin.Action {
		return func(*kingpin.ParseContext) error {
			code = f()
			return nil
		}
	})
	if len(args) == 0 {
		args = []string{"run"}
	}
	if _, err := app.Parse(args); err != nil {
		fmt.Fprintf(stderr, "vitals: %s%s; see %s\n", usageError(err, args), suggestion(app, args, err.Error()), helpOf(app, args))
		return exitConfig
	}
	return code
}

// usageError says what is wrong with the arguments. The default command takes a word
// that is no command for an argument too many, and of a value that a flag does not take
// the parser names no flag.
func usageError(err error, args []string) string {
	text := err.Error()
	if word, ok := strings.CutPrefix(text, "unexpected "); ok {
		return fmt.Sprintf("%q is no command, nor an argument that is expected here", word)
	}
	if word, ok := strings.CutPrefix(text, "expected command but got "); ok {
		return word + " is no command here"
	}
	for i, arg := range args {
		flag, value, ok := strings.Cut(arg, "=")
		if !ok && i > 0 {
			flag, value = args[i-1], arg
		}
		if !strings.HasPrefix(flag, "--") {
			continue
		}
		switch {
		case strings.HasPrefix(text, "enum value ") && strings.HasSuffix(text, fmt.Sprintf(", got '%s'", value)),
			strings.HasPrefix(text, "time: ") && strings.HasSuffix(text, fmt.Sprintf(" duration %q", value)),
			text == "unrecognized log level "+value:
			return flag + ": " + text
		}
	}
	return text
}

// helpOf returns the command line that explains the command of these arguments, as far
// as they name one.
func helpOf(app *kingpin.Application, args []string) string {
	words := []string{"vitals"}
	for get := app.GetCommand; len(args) > 0; args = args[1:] {
		cmd := get(args[0])
		if cmd == nil {
			break
		}
		words, get = append(words, args[0]), cmd.GetCommand
	}
	return strings.Join(append(words, "--help"), " ")
}

// terminated ends run from within the flag parser, which has shown help or the
// version and would otherwise end the process.
type terminated int

// commands declares the commands and their flags.
func (p *program) commands(app *kingpin.Application, do func(func() int) kingpin.Action) {
	runCmd := app.Command("run", "Collect, evaluate and serve until asked to stop: SIGTERM fails ready at once and ends the process after --web.shutdown-delay, SIGHUP reloads the configuration.").Default()
	p.configFlags(runCmd)
	p.webFlags(runCmd, defaultListen)
	runCmd.Flag("config.poll-interval", "How often to look for a changed configuration; 0 never looks.").Default("5s").DurationVar(&p.poll)
	runCmd.Action(do(p.runDaemon))

	demo := app.Command("demo", "Run the controller profile against fakes of the Kubernetes API, Keystone and Neutron inside the program, with buttons that break and heal them.")
	p.webFlags(demo, "127.0.0.1:8080")
	demo.Action(do(p.runDemo))

	once := app.Command("once", "Collect and evaluate once, print the verdict of STATE and exit with its code. One look cannot wait: a rule whose condition holds counts as failing whatever its for.")
	p.configFlags(once)
	var state, style string
	var timeout time.Duration
	once.Arg("state", "The state to judge; ready when none is given.").Default("ready").StringVar(&state)
	once.Flag("timeout", "How long to wait for collectors.").Default("15s").DurationVar(&timeout)
	once.Flag("style", "Exit codes and output as the exec probe has them: plain, docker, sonic or nagios. Mistakes go to stdout, too. Without it, plain, and mistakes go to stderr.").EnumVar(&style, styles()...)
	once.Action(do(func() int { return p.runOnce(state, style, timeout) }))

	p.waitCommand(app, do)
	p.explainCommand(app, do)

	p.checkCommands(app, do)
	p.testCommand(app, do)
	p.listenerCommand(app, do)
	p.generateCommand(app, do)

	profiles := app.Command("profiles", "The shipped configurations.")
	profiles.Command("list", "List the shipped configurations; the command when none is given.").Default().Action(do(p.listProfiles))
	var name, dir string
	show := profiles.Command("show", "Print a profile's configuration and rules as plain files, to start one's own from.")
	show.Arg("name", "The profile.").Required().StringVar(&name)
	show.Flag("write", "Write the files below this directory instead; existing files are left alone.").PlaceHolder("DIR").StringVar(&dir)
	p.setFlag(show)
	show.Action(do(func() int { return p.showProfile(name, dir) }))
}

// styles are the names of the exec probe's styles.
func styles() []string {
	var names []string
	for _, s := range execprobe.Styles() {
		names = append(names, string(s))
	}
	return names
}

// configFlags declares where the configuration comes from.
func (p *program) configFlags(cmd *kingpin.CmdClause) {
	cmd.PreAction(func(*kingpin.ParseContext) error {
		p.environment(os.Environ())
		return nil
	})
	cmd.Flag("config.file", "The configuration file.").PlaceHolder("FILE").StringVar(&p.configFile)
	cmd.Flag("profile", "A shipped configuration instead of a file: one of those that \"vitals profiles\" lists. Without it and a file, VITALS_PROFILE in the environment.").PlaceHolder("NAME").StringVar(&p.profile)
	cmd.Flag("kuryr.conf", "With a Kuryr profile: the kuryr.conf to take ports, credentials and limits from.").PlaceHolder("FILE").StringVar(&p.kuryrConf)
	p.setFlag(cmd)
}

// setFlag declares the variables of a profile.
func (p *program) setFlag(cmd *kingpin.CmdClause) {
	p.set, p.fromEnvironment = map[string]string{}, map[string]bool{}
	cmd.Flag("set", "With a profile: a variable of the profile, such as kubeconfig=FILE, components=watcher,server or process=kuryr-daemon. Repeatable; VITALS_SET_KEY in the environment says what no flag does.").PlaceHolder("KEY=VALUE").StringMapVar(&p.set)
}

// webFlags declares where and how to listen, as Prometheus' exporters do.
func (p *program) webFlags(cmd *kingpin.CmdClause, address string) {
	flags := kingpinflag.AddFlags(cmd, address)
	given := func(*kingpin.ParseContext) error { p.web = flags; return nil }
	cmd.PreAction(given)
	cmd.GetFlag("web.listen-address").IsSetByUser(&p.listenGiven)
	cmd.Flag("web.unix-socket", "The Unix socket for the API, component reports and the exec probe. By default "+defaultSocket+" where its directory is writable; empty for none.").Default(defaultSocket).StringVar(&p.socket.path)
	cmd.Flag("web.unix-socket-mode", "The permissions of the Unix socket, in octal. 0666 lets everybody probe; who may write is asked for apart from that.").Default("0660").StringVar(&p.socket.mode)
	cmd.Flag("web.unix-socket-group", "The group of the Unix socket, whose members may write to it: a name or a number. By default the process' own.").PlaceHolder("GROUP").StringVar(&p.socket.group)
	cmd.Flag("web.unix-socket-writer", "A user who may write to the Unix socket: report for components, reload. Beside root, the daemon's own user and the socket's group. A name or a number; repeatable.").PlaceHolder("USER").StringsVar(&p.socket.writers)
	cmd.Flag("probe.listen-address", "A listener of its own for the probe paths, without TLS and authentication.").PlaceHolder("ADDRESS").StringVar(&p.probeAddress)
	cmd.Flag("web.enable-lifecycle", "Allow POST /-/reload.").BoolVar(&p.lifecycle)
	cmd.Flag("web.shutdown-delay", "How long to go on answering after SIGTERM, with ready failing, so that load balancers notice.").Default("5s").DurationVar(&p.shutdownDelay)
}

// fail prints mistakes and returns the code of a configuration error.
func (p *program) fail(errs ...error) int {
	fmt.Fprintln(p.stderr, errors.Join(errs...))
	if len(errs) > 1 {
		fmt.Fprintf(p.stderr, "%d mistakes\n", len(errs))
	}
	return exitConfig
}

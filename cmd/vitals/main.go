// Command vitals evaluates the health of a workload: it collects gauges, evaluates rules
// in Prometheus' format over them and serves the verdicts as probe endpoints.
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
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/vitals-health/vitals/internal/alertmanager"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/kubereport"
	"github.com/vitals-health/vitals/internal/listen"
	"github.com/vitals-health/vitals/internal/logqueue"
	"github.com/vitals-health/vitals/internal/profiles"
	"github.com/vitals-health/vitals/internal/redact"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// program holds what the commands share.
type program struct {
	stdout, stderr io.Writer
	// secrets are those that no output contains.
	secrets *redact.List
	log     *promslog.Config
	// queue writes stderr of the daemon; nil in other commands.
	queue *logqueue.Queue

	// arguments are those of the command line; only completion reads them.
	arguments                      []string
	configFile, profile, kuryrConf string
	set                            map[string]string
	rules                          []string
	// fromEnvironment are the names in set that no flag gave.
	fromEnvironment map[string]bool
	poll            time.Duration
	onConfigError   string

	web          *web.FlagConfig
	levelGiven   bool
	listenGiven  bool
	socket       listen.Socket
	probeAddress string
	grpcAddress  string
	lifecycle    bool
	pageTitle    string
	// frameAncestors may show the page in a frame.
	frameAncestors []string
	// allowedHosts are names that requests may have as Host.
	allowedHosts  []string
	shutdownDelay time.Duration
	// kubernetes are the reports to Kubernetes.
	kubernetes kubereport.Options
	// alertmanager is where alerts are sent.
	alertmanager alertmanager.Options
	storage      storage
	// terminationLog is the file for the last message of a container; empty for none.
	terminationLog string
	// adjust, where set, changes the profile's configuration after the flags are applied.
	adjust func(*config.Config)
	// welcome, where set, is a format with the base URL, printed once the process listens.
	welcome string
}

func (p *program) logger() *slog.Logger { return promslog.New(p.log) }

const help = `Health evaluator: collectors measure, rules in Prometheus' alerting-rule format decide, and probes, metrics and alerts show the same state.

Start with "vitals demo" and open the address that it prints. Then let "vitals init" write a configuration for this host or pod, or print a shipped one with "vitals profiles show NAME". Check it with "vitals check config FILE" and start it with "vitals run --config.file=FILE".`

// run is main with arguments and output streams as parameters; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) (code int) {
	out := &printed{to: stdout}
	defer func() { code = out.complete(code, stderr) }()
	secrets := new(redact.List)
	stderr = &shown{to: stderr, secrets: secrets}
	p := &program{stdout: &shown{to: out, secrets: secrets}, stderr: stderr, secrets: secrets, log: &promslog.Config{Writer: stderr}, terminationLog: terminationLog}
	app := kingpin.New("vitals", help+"\n\n"+exitCodeNames()).UsageWriter(out).ErrorWriter(stderr)
	app.Terminate(func(status int) { panic(terminated(status)) })
	app.HelpFlag.Short('h')
	app.HelpFlag.Help("Show help; --help-long shows that of all commands.")
	app.Version(versionText()).VersionFlag.Short('v')
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
	showExitCodes(app)
	if len(args) == 0 {
		args = []string{"run"}
	}
	args = completing(args)
	p.arguments = args
	if _, err := app.Parse(args); err != nil {
		fmt.Fprintf(stderr, "vitals: %s%s; see %s\n", usageError(err, args), suggestion(app, args, err.Error()), helpOf(app, args))
		return exitConfig
	}
	return code
}

// usageError describes what is wrong with the arguments. The parser reports an unknown
// command as an unexpected argument of the default command, and an invalid value of a
// flag without the flag's name: usageError restores both.
func usageError(err error, args []string) string {
	text := err.Error()
	if word, ok := strings.CutPrefix(text, "unexpected "); ok {
		return fmt.Sprintf("%q is neither a command nor an expected argument", word)
	}
	if word, ok := strings.CutPrefix(text, "expected command but got "); ok {
		return word + " is not a command here"
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
			strings.HasPrefix(text, "units: ") && strings.HasSuffix(text, " "+value),
			text == fmt.Sprintf("not a valid duration string: %q", value),
			text == "unrecognized log level "+value:
			return flag + ": " + text
		}
	}
	return text
}

// helpOf returns the command line that prints the help of the longest command that the
// arguments name.
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

// terminated is the value of the panic that ends run after the flag parser has printed
// help or the version. Without it the parser would exit the process.
type terminated int

// commands declares the commands and their flags.
func (p *program) commands(app *kingpin.Application, do func(func() int) kingpin.Action) {
	p.runCommand(app, do)
	p.demoCommand(app, do)
	p.initCommand(app, do)
	p.onceCommand(app, do)
	p.waitCommand(app, do)
	p.explainCommand(app, do)
	p.eventsCommand(app, do)
	p.silenceCommands(app, do)
	p.checkCommands(app, do)
	p.testCommand(app, do)
	p.listenerCommand(app, do)
	p.generateCommand(app, do)
	p.profilesCommand(app, do)
	p.completionCommand(app, do)
	p.versionCommand(app, do)
	p.hints(app)
}

// styles are the names of the exec probe's styles.
func styles() []string {
	var names []string
	for _, s := range execprobe.Styles() {
		names = append(names, string(s))
	}
	return names
}

// configFlags declares the flags that select the configuration.
func (p *program) configFlags(cmd *kingpin.CmdClause) {
	cmd.PreAction(func(*kingpin.ParseContext) error {
		p.environment(os.Environ())
		return nil
	})
	cmd.Flag("config.file", "The configuration file.").PlaceHolder("FILE").StringVar(&p.configFile)
	cmd.Flag("profile", "A shipped configuration instead of a file: one that \"vitals profiles\" lists. Without this flag and a file, the environment variable VITALS_PROFILE.").PlaceHolder("NAME").StringVar(&p.profile)
	p.kuryrConfFlag(cmd)
	p.setFlag(cmd)
	cmd.Flag("rules", "With a profile: a further rule file, a glob, or builtin:NAME for a shipped file. Repeatable.").PlaceHolder("FILE").StringsVar(&p.rules)
}

// kuryrConfFlag declares the flag for Kuryr's configuration.
func (p *program) kuryrConfFlag(cmd *kingpin.CmdClause) {
	cmd.Flag("kuryr.conf", "With a Kuryr profile: the kuryr.conf that defines ports, credentials and limits.").PlaceHolder("FILE").StringVar(&p.kuryrConf)
}

// setFlag declares the flag for the variables of a profile.
func (p *program) setFlag(cmd *kingpin.CmdClause) {
	p.set, p.fromEnvironment = map[string]string{}, map[string]bool{}
	cmd.Flag("set", "With a profile: a variable of the profile, such as kubeconfig=FILE, components=watcher,server or process=kuryr-daemon. Repeatable. The environment variable VITALS_SET_KEY sets KEY where no flag does.").PlaceHolder("KEY=VALUE").StringMapVar(&p.set)
}

// webFlags declares the flags for listeners, with the names of Prometheus' exporters.
func (p *program) webFlags(cmd *kingpin.CmdClause, address string) {
	flags := kingpinflag.AddFlags(cmd, address)
	given := func(*kingpin.ParseContext) error {
		p.web, p.socket.Default, p.socket.User = flags, p.socket.Path == listen.DefaultSocket, listen.UserSocket(os.Getenv)
		return nil
	}
	cmd.PreAction(given)
	cmd.GetFlag("web.listen-address").IsSetByUser(&p.listenGiven)
	cmd.Flag("web.unix-socket", "The Unix socket for the API, component reports and the exec probe. By default "+listen.DefaultSocket+", whose directory root makes, or where that is not writable $XDG_RUNTIME_DIR/vitals.sock; empty for no socket.").Default(listen.DefaultSocket).StringVar(&p.socket.Path)
	cmd.Flag("web.unix-socket-mode", "The permissions of the Unix socket, in octal. 0666 lets every user probe; writing needs further permission, see --web.unix-socket-writer.").Default("0660").StringVar(&p.socket.Mode)
	cmd.Flag("web.unix-socket-group", "The group of the Unix socket, whose members may write to it: a name or a number. By default the group of the process.").PlaceHolder("GROUP").StringVar(&p.socket.Group)
	cmd.Flag("web.unix-socket-writer", "A user who may write to the Unix socket, that is report for components, silence rules and reload, in addition to root, the daemon's user and the socket's group. A name or a number; repeatable.").PlaceHolder("USER").StringsVar(&p.socket.Writers)
	cmd.Flag("probe.listen-address", "An additional listener for probes only, those of Vitals itself among them, without TLS and authentication.").PlaceHolder("ADDRESS").StringVar(&p.probeAddress)
	cmd.Flag("grpc.listen-address", "An additional listener for health checks over gRPC only, without TLS and authentication. All other listeners have them as well.").PlaceHolder("ADDRESS").StringVar(&p.grpcAddress)
	cmd.Flag("web.page-title", "The title of the status page, such as the name of the workload. By default the name of the pod or host.").PlaceHolder("TEXT").StringVar(&p.pageTitle)
	cmd.Flag("web.frame-ancestor", "A site whose pages may show the status page in a frame, such as https://grafana.example.org, or * for all. Repeatable; by default none may.").PlaceHolder("ORIGIN").SetValue((*frameAncestors)(&p.frameAncestors))
	cmd.Flag("web.allowed-host", "A name under which clients may reach the page, the API and /config without TLS, such as the name of an ingress: vitals.example.org, .example.org for all names below, or * for all. Repeatable. Addresses, localhost, the name of the machine and names of Kubernetes services are always allowed.").PlaceHolder("NAME").SetValue((*allowedHosts)(&p.allowedHosts))
	cmd.Flag("web.enable-lifecycle", "Allow POST /-/reload.").BoolVar(&p.lifecycle)
	cmd.Flag("web.shutdown-delay", "How long to keep serving after SIGTERM, with ready failing, so that load balancers notice.").Default("5s").DurationVar(&p.shutdownDelay)
}

// environment reads what no flag sets: the profile, where no configuration is named, and
// the variables of a profile, as in VITALS_SET_SERVICE for --set service. Empty values
// are ignored.
func (p *program) environment(environ []string) {
	given := map[string]string{}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			given[name] = value
		}
	}
	if p.configFile == "" && p.profile == "" {
		p.profile = given[profiles.NameVariable]
	}
	if p.profile == "" {
		return
	}
	for name, value := range given {
		name, ours := strings.CutPrefix(name, profiles.SetPrefix)
		name = strings.ToLower(name)
		if _, flag := p.set[name]; ours && !flag {
			p.set[name], p.fromEnvironment[name] = value, true
		}
	}
}

// fail prints errors and returns the exit code of a configuration error.
func (p *program) fail(errs ...error) int {
	fmt.Fprintln(p.stderr, errors.Join(errs...))
	if len(errs) > 1 {
		fmt.Fprintf(p.stderr, "%d mistakes\n", len(errs))
	}
	return exitConfig
}

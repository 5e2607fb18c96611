package configfile

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/filekind"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/states"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// Config is the configuration file. The types of its parts are in the packages that they
// configure.
type Config[E Entry[E]] struct {
	// EvaluationInterval is the time between two evaluations of the rules; 1 s by default.
	EvaluationInterval model.Duration `yaml:"evaluation_interval,omitempty"`
	// RuleFiles are globs relative to this file, or builtin:NAME for a shipped file.
	RuleFiles []string `yaml:"rule_files,omitempty"`
	// StateLabel is the label that makes an alert a rule of a state; state by default.
	StateLabel string `yaml:"state_label,omitempty"`
	// States are added to ready, alive and started, or set the no_data policy of those.
	States     map[string]StateConfig `yaml:"states,omitempty"`
	Collectors []E                    `yaml:"collectors,omitempty"`
	Server     ServerConfig           `yaml:"server,omitempty"`
}

// StateConfig configures one state.
type StateConfig struct {
	// NoData is how the state treats unknown rules: fail, pass, hold or a hold with an end,
	// such as hold 5m.
	NoData string `yaml:"no_data,omitempty"`
	// AtStart is how the state treats pending rules that have not been ok yet: fail or pass.
	AtStart string `yaml:"at_start,omitempty"`
}

// ServerConfig configures the HTTP server.
type ServerConfig struct {
	// ListenAddress is the address to listen on without --web.listen-address.
	ListenAddress string `yaml:"listen_address,omitempty"`
	// FailingStatus is the HTTP status of a failing state; 503 by default.
	FailingStatus int `yaml:"failing_status,omitempty"`
	// StalledAliveAfter is the age of the last evaluation beyond which alive fails as well;
	// 60 s, and at least twice that of ready, if zero.
	StalledAliveAfter model.Duration `yaml:"stalled_alive_after,omitempty"`
	// ComponentToken is the bearer token for reports of components over TCP. Without it,
	// reports are accepted over the Unix socket only.
	ComponentToken collectors.Secret `yaml:"component_token,omitempty"`
	// OperatorToken is the bearer token for silences and maintenance over TCP. Without it, they
	// are accepted over the Unix socket only.
	OperatorToken collectors.Secret `yaml:"operator_token,omitempty"`
}

// SetDefaults sets what the file may leave out.
func (c *Config[E]) SetDefaults() { c.EvaluationInterval = model.Duration(time.Second) }

// SetDefaults sets what the file may leave out.
func (c *ServerConfig) SetDefaults() { c.FailingStatus = 503 }

// Loaded is a configuration that has been read and checked, with all its rules.
type Loaded[E Entry[E]] struct {
	Config Config[E]
	// Document is the configuration file with the position of each of its values.
	Document *strictyaml.Document
	Rules    []*rules.File
	// Redacted is the configuration file without its secrets.
	Redacted []byte
	// Needs describes how to set what a profile requires and does not have; empty for a file.
	Needs string
	// Secrets are the values that no output may contain, as far as the configuration has them.
	Secrets []string
	// Names are the values of labels that stay as they are in all output.
	Names []string
	// Sources are the files that it was read from: a change of one is a change of the
	// configuration.
	Sources *Sources
	kinds   Kinds[E]
	// expanded are the references of the configuration, longer values first.
	expanded []expansion
	// references are all references of the configuration, such as ${NAME}.
	references []string
	// secretFiles are the files whose content is secret.
	secretFiles []string
}

// LoadFile reads the configuration file and all files that it names. It returns all errors
// at once, in the order of the file. The first result is never nil: with errors it still
// has its sources.
func LoadFile[E Entry[E]](kinds Kinds[E], path string) (*Loaded[E], []error) {
	from := NewSources()
	data, err := from.Read(path)
	if data, err = atMost(data, err, maxConfig); err != nil {
		return &Loaded[E]{Sources: from}, []error{fmt.Errorf("%s: %w", path, err)}
	}
	l, mistakes := Load(kinds, from, path, data, nil)
	return l, filekind.Instead(path, data, filekind.Config, mistakes)
}

// Load reads and checks a configuration. adjust, unless it is nil, changes the
// configuration before it is checked.
func Load[E Entry[E]](kinds Kinds[E], from *Sources, path string, data []byte, adjust func(*Config[E]) []error) (*Loaded[E], []error) {
	l := &Loaded[E]{Sources: from, kinds: kinds}
	vars := expander{from: from}
	doc, mistakes := strictyaml.Decode(path, data, &l.Config, kinds.options(vars.expand)...)
	l.Document = doc
	for _, e := range vars.done {
		l.references = append(l.references, e.reference)
	}
	l.expanded = slices.DeleteFunc(vars.done, func(e expansion) bool { return e.value == "" })
	slices.SortStableFunc(l.expanded, func(x, y expansion) int { return cmp.Compare(len(y.value), len(x.value)) })
	var errs []error
	if adjust != nil {
		errs = adjust(&l.Config)
	}
	l.Config.shortenTimeouts(doc)
	mistakes = append(mistakes, l.problems(doc)...)
	slices.SortStableFunc(mistakes, func(x, y *strictyaml.Error) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col))
	})
	errs = append(errs, asErrors(mistakes)...)
	errs = append(errs, l.loadRules(path, doc)...)
	l.Redacted = doc.Redacted(kinds.secretKey, redact.Config)
	l.findSecrets(l.expanded)
	return l, errs
}

// quoted is a value in the text of a mistake.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// asErrors returns mistakes without the secrets in the values that they quote.
func asErrors(mistakes []*strictyaml.Error) []error {
	errs := make([]error, 0, len(mistakes))
	for _, m := range mistakes {
		shown := quoted.ReplaceAllStringFunc(m.Text, func(value string) string { return redact.Config([]string{value})[0] })
		m.Text = redact.Text(shown)
		errs = append(errs, m)
	}
	return errs
}

// shortenTimeouts makes the timeout of a collector that sets none no longer than its
// interval.
func (c *Config[E]) shortenTimeouts(doc *strictyaml.Document) {
	for i := range c.Collectors {
		_, interval, timeout := c.Collectors[i].Common()
		if interval > 0 && !doc.Has(fmt.Sprintf("collectors[%d].timeout", i)) {
			c.Collectors[i] = c.Collectors[i].WithTimeout(min(timeout, interval))
		}
	}
}

// problems returns the errors that the decoder cannot detect.
func (l *Loaded[E]) problems(doc *strictyaml.Document) []*strictyaml.Error {
	c := &l.Config
	var found []*strictyaml.Error
	report := func(path, format string, args ...any) {
		if doc.Broken(path) { // the decoder has reported it
			return
		}
		found = append(found, l.mistake(doc, path, format, args...))
	}
	if c.EvaluationInterval < model.Duration(100*time.Millisecond) {
		report("evaluation_interval", "evaluation_interval %s: expected at least 100ms", c.EvaluationInterval)
	}
	if text := rules.StateLabelProblem(c.StateLabel); text != "" {
		report("state_label", "%q: %s", c.StateLabel, text)
	}
	for _, name := range slices.Sorted(maps.Keys(c.States)) {
		if text := stateProblem(name); text != "" {
			report("states."+name, "state %q: %s", name, text)
		}
		if policy := c.States[name].NoData; policy != "" && !rules.NoData(policy).Valid() {
			report("states."+name+".no_data", "state %q has no_data %q: expected %s", name, policy, rules.NoDataExpected)
		}
		if policy := c.States[name].AtStart; policy != "" && !evaluator.AtStart(policy).Valid() {
			report("states."+name+".at_start", "state %q has at_start %q: expected fail or pass", name, policy)
		}
	}
	if a := c.Server.ListenAddress; a != "" && !IsListenAddress(a) {
		report("server.listen_address", "listen_address %q: expected :PORT or HOST:PORT, with a port up to 65535", a)
	}
	if s := c.Server.FailingStatus; s < 400 || s > 599 {
		report("server.failing_status", "failing_status %d: expected 400 to 599, which the kubelet treats as failures", s)
	}
	if t := c.Server.OperatorToken; t != "" && t == c.Server.ComponentToken {
		report("server.operator_token", "the same token as component_token: expected another one, because a component must not silence rules")
	}
	interval := time.Duration(c.EvaluationInterval)
	if d, least := time.Duration(c.Server.StalledAliveAfter), evaluator.StalledAfter(interval); d != 0 && d <= least {
		report("server.stalled_alive_after", "stalled_alive_after %s: expected more than %s, after which ready fails", c.Server.StalledAliveAfter, model.Duration(least))
	}
	for i, col := range c.Collectors {
		path := fmt.Sprintf("collectors[%d]", i)
		for _, p := range col.Problems() {
			report(strings.TrimSuffix(path+"."+p.Path, "."), "%s", p.Text)
		}
	}
	c.checkNames(doc, report)
	for i, col := range c.Collectors {
		c.checkUses(col, func(text string) { report(fmt.Sprintf("collectors[%d]", i), "%s", text) })
	}
	return found
}

// IsListenAddress reports whether a has the form of an address to listen on. The exporter
// toolkit accepts vsock addresses as well.
func IsListenAddress(a string) bool {
	if strings.HasPrefix(a, "vsock://") {
		return true
	}
	_, port, err := net.SplitHostPort(a)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// checkUses checks that the collectors that a collector uses exist.
func (c *Config[E]) checkUses(col E, report func(string)) {
	own, _, _ := col.Common()
	_, kind := col.Kind()
	if kind == nil {
		return
	}
	for _, used := range kind.Uses() {
		known := slices.ContainsFunc(c.Collectors, func(o E) bool { name, _, _ := o.Common(); return name == used && name != own })
		if !known {
			report(fmt.Sprintf("collector %q uses %q: expected the name of another collector", own, used))
		}
	}
}

var validState = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// stateProblem returns why a state cannot have a name, or an empty string.
func stateProblem(name string) string {
	switch {
	case !validState.MatchString(name):
		return "expected a lower-case letter and then letters, digits or '_'"
	case states.Reserved(name):
		return "the path /" + name + " is reserved, expected another name"
	}
	return ""
}

// StateNames returns all states: those that always exist and those of the file.
func (c *Config[E]) StateNames() []string {
	names := []string{evaluator.Ready, evaluator.Alive, evaluator.Started}
	for _, n := range slices.Sorted(maps.Keys(c.States)) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// RuleOptions returns what the configuration and the program define for rule files.
func (l *Loaded[E]) RuleOptions() rules.Options {
	c := &l.Config
	return rules.Options{
		States: c.StateNames(), StateLabel: c.StateLabel, Step: evaluator.SubqueryStep(time.Duration(c.EvaluationInterval)),
		Templates: l.kinds.Templates,
	}
}

// ForFile returns the options for a rule file: a shipped one has the default label of the
// state.
func ForFile(opts rules.Options, name string) rules.Options {
	if strings.HasPrefix(name, BuiltinPrefix) {
		opts.StateLabel = ""
	}
	return opts
}

// BuiltinPrefix marks the name of a shipped rule file.
const BuiltinPrefix = "builtin:"

// loadRules reads the rule files of a configuration at path.
func (l *Loaded[E]) loadRules(path string, doc *strictyaml.Document) []error {
	var errs []error
	opts := l.RuleOptions()
	parse := func(name string, data []byte) {
		files, mistakes := ForFile(opts, name).ParseAll(name, data)
		errs = append(errs, filekind.Instead(name, data, filekind.Rules, mistakes)...)
		l.Rules = append(l.Rules, files...)
	}
	for i, pattern := range l.Config.RuleFiles {
		shown := redact.Text(pattern)
		where := fmt.Sprintf("rule_files[%d]", i)
		if name, ok := strings.CutPrefix(pattern, BuiltinPrefix); ok {
			data, err := fs.ReadFile(rules.Shipped(), name+".yml")
			if err != nil {
				errs = append(errs, l.mistake(doc, where, "rule file %q: expected one of the shipped files %s", shown, strings.Join(ShippedRules(), ", ")))
				continue
			}
			parse(pattern, data)
			continue
		}
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(filepath.Dir(path), pattern)
		}
		matches, err := l.Sources.glob(pattern)
		if err != nil || len(matches) == 0 {
			errs = append(errs, l.mistake(doc, where, "rule file %q matches no file, expected a path or a glob relative to the configuration file", shown))
			continue
		}
		for _, m := range matches {
			data, err := l.Sources.Read(m)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", m, err))
				continue
			}
			parse(m, data)
		}
	}
	return append(errs, rules.Check(l.Rules)...)
}

// ShippedRules returns the names of the rule files inside the program.
func ShippedRules() []string {
	entries, _ := fs.ReadDir(rules.Shipped(), ".")
	var names []string
	for _, e := range entries {
		names = append(names, BuiltinPrefix+strings.TrimSuffix(e.Name(), ".yml"))
	}
	slices.Sort(names)
	return names
}

// CountRules returns the number of rules in files.
func CountRules(files []*rules.File) int {
	n := 0
	for _, f := range files {
		for _, g := range f.Groups {
			n += len(g.Rules)
		}
	}
	return n
}

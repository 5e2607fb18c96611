package probes

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// plain matches a text that is itself in a flow sequence of YAML.
var plain = regexp.MustCompile(`^[a-zA-Z0-9/._=-]+$`)

// handler returns how the kubelet queries a state, as YAML.
func (o Options) handler(state string) string {
	switch o.Type {
	case GRPC:
		return fmt.Sprintf("grpc: {port: %d, service: %s}", o.Port, state)
	case Exec:
		command := []string{o.Command, "--state=" + state}
		if o.Command == "" {
			command[0] = "healthcheck"
		}
		if state != "ready" {
			command = append(command, "--no-daemon=pass")
		}
		return "exec: {command: " + flow(append(command, "--timeout=900ms")) + "}"
	}
	return o.path("/"+state, o.Port)
}

// path returns a request as YAML.
func (o Options) path(path string, port int) string {
	host := ""
	if o.Host != "" && o.Type != Exec {
		host = ", host: " + flow([]string{o.Host})[1:]
		host = strings.TrimSuffix(host, "]")
	}
	return fmt.Sprintf("httpGet: {path: %s, port: %d%s}", path, port, host)
}

// flow returns a sequence of texts.
func flow(texts []string) string {
	shown := make([]string, len(texts))
	for i, t := range texts {
		shown[i] = t
		if !plain.MatchString(t) {
			shown[i] = strconv.Quote(t)
		}
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

// Workload returns the probes of the container that Vitals judges: three keys of a
// container, each behind comments with its reason and its times.
func (s Set) Workload() string {
	var b strings.Builder
	write(&b, "startupProbe", s.Startup, s.aboutStartup())
	write(&b, "readinessProbe", s.Readiness, s.aboutReadiness())
	write(&b, "livenessProbe", s.Liveness, s.aboutLiveness())
	return b.String()
}

// Vitals returns the probe of Vitals' own container, in the same form.
func (s Set) Vitals() string {
	var b strings.Builder
	write(&b, "livenessProbe", s.Own, []string{
		fmt.Sprintf("A Vitals that does not answer runs again within %s, and one that does not", text(s.HungProcess())),
		fmt.Sprintf("evaluate within %s, with %s for the start. No liveness of the workload acts before.", text(s.HungEvaluator()), text(restart)),
	})
	return b.String()
}

// Patch returns a strategic merge patch for a Deployment, DaemonSet or StatefulSet: the
// probes of a container, and of that of Vitals. A vitals that is empty leaves out the latter.
func (s Set) Patch(container, vitals string) string {
	var b strings.Builder
	b.WriteString("spec:\n  template:\n    spec:\n      containers:\n")
	add := func(name, probes string) {
		fmt.Fprintf(&b, "        - name: %s\n", strings.Trim(flow([]string{name}), "[]"))
		for line := range strings.Lines(probes) {
			b.WriteString("          " + line)
		}
	}
	add(container, s.Workload())
	if vitals != "" {
		add(vitals, s.Vitals())
	}
	return b.String()
}

func write(b *strings.Builder, key string, p Probe, about []string) {
	for _, line := range about {
		fmt.Fprintf(b, "# %s\n", line)
	}
	fmt.Fprintf(b, "%s:\n  %s\n  periodSeconds: %d\n  timeoutSeconds: %d\n  failureThreshold: %d\n", key, p.Handler, p.Period, p.Timeout, p.FailureThreshold)
	if p.Grace > 0 {
		fmt.Fprintf(b, "  terminationGracePeriodSeconds: %d\n", p.Grace)
	}
}

func (s Set) aboutStartup() []string {
	about := []string{
		fmt.Sprintf("started passes after one collection of each collector, which takes up to %s,", text(s.facts.FirstResult)),
		fmt.Sprintf("and two evaluations. The kubelet restarts the container after %s.", text(s.Startup.Latest()-time.Second)),
	}
	for _, r := range s.facts.Rules {
		if r.State == "started" {
			return append(about, fmt.Sprintf("Its rules, such as %s, have to be ok by then.", r.Name))
		}
	}
	return about
}

func (s Set) aboutReadiness() []string {
	about := []string{`One failure is enough, as the rules wait ("for").`}
	if r, after, ok := s.Slowest("ready"); ok {
		about = append(about, fmt.Sprintf("Out of service up to %s after a fault: %s.", text(after), s.terms(r, s.Readiness)))
	}
	return about
}

func (s Set) aboutLiveness() []string {
	about := []string{fmt.Sprintf("Acts after %s to %s without a success. A hung Vitals is restarted before that,", text(s.Liveness.Soonest()), text(s.Liveness.Latest()))}
	if s.exec {
		about = append(about, "and while no Vitals runs, the probe passes.")
	} else {
		about = append(about, fmt.Sprintf("within %s. Vitals may be away for %s.", text(s.HungProcess()), text(s.Liveness.Soonest())))
	}
	if r, after, ok := s.Slowest("alive"); ok {
		about = append(about, fmt.Sprintf("Restarts up to %s after a fault: %s.", text(after), s.terms(r, s.Liveness)))
	}
	return about
}

// terms returns the parts of the time of a rule.
func (s Set) terms(r Rule, p Probe) string {
	collection := ""
	if r.Collection > 0 {
		collection = text(r.Collection) + " collection, "
	}
	return fmt.Sprintf("%s%s for of %s, %s evaluation, %s probe", collection, text(r.For), r.Name, text(2*s.facts.Interval), text(p.Latest()))
}

// text formats a duration as in rule files.
func text(d time.Duration) string { return model.Duration(d).String() }

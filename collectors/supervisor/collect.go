package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// maxSupervisorNote bounds a note in bytes.
const maxSupervisorNote = 200

// collector is the collector of the kind collector.
type collector struct {
	name     string
	programs []supervisorName // none means all
	critical criticalPrograms
	limit    int
	client   *client
	// note is about the last round.
	note string
}

// Collect asks supervisord once. Without an answer nothing is known of the programs, so
// their series end; a file of critical programs that broke changes nothing but the error.
func (s *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	broken := s.critical.refresh(ctx)
	answer, err := s.client.ask(ctx)
	var b collectors.Batch
	b.Set(upMetric, collectors.Number(err == nil), s.name)
	if err == nil {
		err = s.measure(&b, answer)
	} else {
		s.note = collectors.OneLine(err.Error(), maxSupervisorNote)
	}
	err = errors.Join(err, broken)
	reason := reasonOfSupervisor(err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), s.name, string(r))
	}
	return b.Samples, err
}

// measure exports an answer.
func (s *collector) measure(b *collectors.Batch, a answer) error {
	for _, state := range states() {
		b.Set(stateMetric, collectors.Number(state.word == a.state), s.name, state.word)
	}
	shown, err := s.choose(a.programs)
	if err != nil {
		s.note = collectors.OneLine(err.Error(), maxSupervisorNote)
		return err
	}
	s.present(b, a.programs)
	for _, p := range shown {
		s.program(b, p)
	}
	s.note = collectors.OneLine(s.describe(a, shown), maxSupervisorNote)
	if a.state == "shutdown" || a.state == "restarting" {
		return collectors.Errorf(shuttingDown, "supervisord at %s is in the state %s", s.client.place, strings.ToUpper(a.state))
	}
	return nil
}

// choose returns the programs that are looked at.
func (s *collector) choose(all []program) ([]program, error) {
	critical := s.critical.names()
	chosen := slices.DeleteFunc(slices.Clone(all), func(p program) bool {
		return len(s.programs) > 0 && !anyMatches(s.programs, p) && !anyMatches(critical, p)
	})
	if len(chosen) > s.limit {
		return nil, collectors.Errorf(tooMany, "supervisord at %s has %d programs to look at: expected at most the limit, %d", s.client.place, len(chosen), s.limit)
	}
	return chosen, nil
}

// named are the names of the configuration, each once.
func (s *collector) named() []supervisorName {
	var names []supervisorName
	for _, n := range slices.Concat(s.programs, s.critical.names()) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// present exports which of the configuration's names supervisord knows.
func (s *collector) present(b *collectors.Batch, all []program) {
	for _, n := range s.named() {
		b.Set(processPresentMetric, collectors.Number(slices.ContainsFunc(all, n.matches)), s.name, n.String())
	}
}

// program exports what is known of one.
func (s *collector) program(b *collectors.Batch, p program) {
	for _, state := range programStates() {
		b.Set(processStateMetric, collectors.Number(state.word == p.state), s.name, p.group, p.name, state.word)
	}
	if p.state == "exited" {
		b.Set(processExitStatusMetric, float64(p.exitStatus), s.name, p.group, p.name)
	}
	if uptime, ok := p.uptime(); ok {
		b.Set(processUptimeMetric, uptime, s.name, p.group, p.name)
	}
	b.Set(processSpawnErrorMetric, collectors.Number(p.spawnErr != ""), s.name, p.group, p.name)
	b.Set(processCriticalMetric, collectors.Number(anyMatches(s.critical.names(), p)), s.name, p.group, p.name)
}

// Note says which of the programs are not well, and how many are in each state.
func (s *collector) Note() string { return s.note }

// describe is the note of a round in which supervisord answered. Programs that the
// configuration names are in it whatever their state.
func (s *collector) describe(a answer, shown []program) string {
	var words []string
	if a.state != "running" {
		words = append(words, "supervisord "+strings.ToUpper(a.state))
	}
	for _, n := range s.named() {
		if !slices.ContainsFunc(a.programs, n.matches) {
			words = append(words, "no program "+n.String())
		}
	}
	if s.critical.wanted() && len(s.critical.names()) == 0 {
		words = append(words, "no critical program")
	}
	counts := map[string]int{}
	for _, p := range shown {
		counts[p.state]++
		well := p.state == "running" || p.state == "exited" && p.exitStatus == 0
		if !well || slices.ContainsFunc(s.programs, func(n supervisorName) bool { return n.program == p.name }) {
			words = append(words, p.String())
		}
	}
	for _, state := range programStates() {
		if n := counts[state.word]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state.word))
		}
	}
	if len(shown) == 0 {
		words = append(words, "no programs")
	}
	return strings.Join(words, ", ")
}

// String is a program as people read it, such as "start EXITED 3 (Bad exit code 3)".
func (p program) String() string {
	text := p.name
	if p.group != p.name {
		text = p.group + ":" + p.name
	}
	text += " " + strings.ToUpper(p.state)
	if p.state == "exited" {
		text += fmt.Sprintf(" %d", p.exitStatus)
	}
	if p.spawnErr != "" {
		text += " (" + p.spawnErr + ")"
	}
	return text
}

// Describe implements Collector.
func (s *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

package collectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxSupervisorNote bounds a note in bytes.
const maxSupervisorNote = 200

// supervisor is the collector of the kind supervisor.
type supervisor struct {
	name     string
	programs []supervisorName // none means all
	critical criticalPrograms
	limit    int
	client   *supervisorClient
	// note is about the last round.
	note string
}

// Collect asks supervisord once. Without an answer nothing is known of the programs, so
// their series end; a file of critical programs that broke changes nothing but the error.
func (s *supervisor) Collect(ctx context.Context) ([]Sample, error) {
	broken := s.critical.refresh(ctx)
	answer, err := s.client.ask(ctx)
	var b batch
	b.set(supervisorUpMetric, number(err == nil), s.name)
	if err == nil {
		err = s.measure(&b, answer)
	} else {
		s.note = oneLine(err.Error(), maxSupervisorNote)
	}
	err = errors.Join(err, broken)
	reason := reasonOfSupervisor(err)
	for _, r := range supervisorReasons() {
		b.set(supervisorFailureMetric, number(r == reason), s.name, string(r))
	}
	return b.samples, err
}

// measure exports an answer.
func (s *supervisor) measure(b *batch, a supervisorAnswer) error {
	for _, state := range supervisorStates() {
		b.set(supervisorStateMetric, number(state.word == a.state), s.name, state.word)
	}
	shown, err := s.choose(a.programs)
	if err != nil {
		s.note = oneLine(err.Error(), maxSupervisorNote)
		return err
	}
	s.present(b, a.programs)
	for _, p := range shown {
		s.program(b, p)
	}
	s.note = oneLine(s.describe(a, shown), maxSupervisorNote)
	if a.state == "shutdown" || a.state == "restarting" {
		return &supervisorError{supervisorShuttingDown, fmt.Errorf("supervisord at %s is in the state %s", s.client.place, strings.ToUpper(a.state))}
	}
	return nil
}

// choose returns the programs that are looked at.
func (s *supervisor) choose(all []supervisorProgram) ([]supervisorProgram, error) {
	critical := s.critical.names()
	chosen := slices.DeleteFunc(slices.Clone(all), func(p supervisorProgram) bool {
		return len(s.programs) > 0 && !anyMatches(s.programs, p) && !anyMatches(critical, p)
	})
	if len(chosen) > s.limit {
		return nil, &supervisorError{supervisorTooMany, fmt.Errorf("supervisord at %s has %d programs to look at: expected at most the limit, %d", s.client.place, len(chosen), s.limit)}
	}
	return chosen, nil
}

// named are the names of the configuration, each once.
func (s *supervisor) named() []supervisorName {
	var names []supervisorName
	for _, n := range slices.Concat(s.programs, s.critical.names()) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// present exports which of the configuration's names supervisord knows.
func (s *supervisor) present(b *batch, all []supervisorProgram) {
	for _, n := range s.named() {
		b.set(supervisorProcessPresentMetric, number(slices.ContainsFunc(all, n.matches)), s.name, n.String())
	}
}

// program exports what is known of one.
func (s *supervisor) program(b *batch, p supervisorProgram) {
	for _, state := range programStates() {
		b.set(supervisorProcessStateMetric, number(state.word == p.state), s.name, p.group, p.name, state.word)
	}
	if p.state == "exited" {
		b.set(supervisorProcessExitStatusMetric, float64(p.exitStatus), s.name, p.group, p.name)
	}
	if uptime, ok := p.uptime(); ok {
		b.set(supervisorProcessUptimeMetric, uptime, s.name, p.group, p.name)
	}
	b.set(supervisorProcessSpawnErrorMetric, number(p.spawnErr != ""), s.name, p.group, p.name)
	b.set(supervisorProcessCriticalMetric, number(anyMatches(s.critical.names(), p)), s.name, p.group, p.name)
}

// Note says which of the programs are not well, and how many are in each state.
func (s *supervisor) Note() string { return s.note }

// describe is the note of a round in which supervisord answered. Programs that the
// configuration names are in it whatever their state.
func (s *supervisor) describe(a supervisorAnswer, shown []supervisorProgram) string {
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
func (p supervisorProgram) String() string {
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
func (s *supervisor) Describe() []Desc { return describe(supervisorDefs()) }

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// maxNote bounds a note in bytes.
const maxNote = 200

// collector is the collector of the kind supervisor.
type collector struct {
	name     string
	programs []programName // none means all
	critical criticalPrograms
	limit    int
	client   *client
	// note is the note of the last collection.
	note string
}

// Collect queries supervisord once. Without an answer there are no samples of programs. An
// invalid file of critical programs changes only the error.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	broken := c.critical.refresh(ctx)
	answer, err := c.client.query(ctx)
	var b collectors.Batch
	b.Set(upMetric, collectors.Number(err == nil), c.name)
	if err == nil {
		err = c.measure(&b, answer)
	} else {
		c.note = text.Short(err.Error(), maxNote)
	}
	err = errors.Join(err, broken)
	reason := reasonOf(err)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), c.name, string(r))
	}
	return b.Samples, err
}

// measure exports an answer.
func (c *collector) measure(b *collectors.Batch, a answer) error {
	for _, state := range states() {
		b.Set(stateMetric, collectors.Number(state.word == a.state), c.name, state.word)
	}
	shown, err := c.choose(a.programs)
	if err != nil {
		c.note = text.Short(err.Error(), maxNote)
		return err
	}
	c.present(b, a.programs)
	for _, p := range shown {
		c.program(b, p)
	}
	c.note = text.Short(c.describe(a, shown), maxNote)
	if a.state == "shutdown" || a.state == "restarting" {
		return collectors.Errorf(shuttingDown, "supervisord at %s is in the state %s", c.client.place, strings.ToUpper(a.state))
	}
	return nil
}

// choose returns the selected programs.
func (c *collector) choose(all []program) ([]program, error) {
	critical := c.critical.names()
	chosen := slices.DeleteFunc(slices.Clone(all), func(p program) bool {
		return len(c.programs) > 0 && !anyMatches(c.programs, p) && !anyMatches(critical, p)
	})
	if len(chosen) > c.limit {
		return nil, collectors.Errorf(tooMany, "supervisord at %s has %d selected programs: expected at most the limit, %d", c.client.place, len(chosen), c.limit)
	}
	return chosen, nil
}

// named returns the names of the configuration, each once.
func (c *collector) named() []programName {
	var names []programName
	for _, n := range slices.Concat(c.programs, c.critical.names()) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// present exports which configured programs exist.
func (c *collector) present(b *collectors.Batch, all []program) {
	for _, n := range c.named() {
		b.Set(processPresentMetric, collectors.Number(slices.ContainsFunc(all, n.matches)), c.name, n.String())
	}
}

// program exports the samples of a program.
func (c *collector) program(b *collectors.Batch, p program) {
	for _, state := range programStates() {
		b.Set(processStateMetric, collectors.Number(state.word == p.state), c.name, p.group, p.name, state.word)
	}
	if p.state == "exited" {
		b.Set(processExitStatusMetric, float64(p.exitStatus), c.name, p.group, p.name)
	}
	if uptime, ok := p.uptime(); ok {
		b.Set(processUptimeMetric, uptime, c.name, p.group, p.name)
	}
	b.Set(processSpawnErrorMetric, collectors.Number(p.spawnErr != ""), c.name, p.group, p.name)
	b.Set(processCriticalMetric, collectors.Number(anyMatches(c.critical.names(), p)), c.name, p.group, p.name)
}

// Note lists the failed programs and the number of programs in each state.
func (c *collector) Note() string { return c.note }

// describe returns the note for an answer. It has the failed and the configured programs.
func (c *collector) describe(a answer, shown []program) string {
	var words []string
	if a.state != "running" {
		words = append(words, "supervisord "+strings.ToUpper(a.state))
	}
	for _, n := range c.named() {
		if !slices.ContainsFunc(a.programs, n.matches) {
			words = append(words, "no program "+n.String())
		}
	}
	if c.critical.wanted() && len(c.critical.names()) == 0 {
		words = append(words, "no critical program")
	}
	counts := map[string]int{}
	for _, p := range shown {
		counts[p.state]++
		ok := p.state == "running" || p.state == "exited" && p.exitStatus == 0
		if !ok || slices.ContainsFunc(c.programs, func(n programName) bool { return n.program == p.name }) {
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

// String describes a program: "start EXITED 3 (Bad exit code 3)".
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
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

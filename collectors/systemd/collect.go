package systemd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	manager "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"github.com/vitals-health/vitals/collectors"
)

// collector is the collector of the kind collector.
type collector struct {
	name   string
	config Config
	note   string
}

// The states of a unit, as org.freedesktop.systemd1(5) has them, with '_' for '-'.
func unitStates() []string {
	return []string{"active", "reloading", "inactive", "failed", "activating", "deactivating", "maintenance"}
}

func unitLoadStates() []string {
	return []string{"loaded", "not_found", "bad_setting", "error", "masked"}
}

// unitOutcomes are the results of services; the last stands for those that other types
// of units have, and for any that may be new.
func unitOutcomes() []string {
	return []string{
		"success", "exit_code", "signal", "core_dump", "watchdog", "timeout", "start_limit_hit",
		"oom_kill", "resources", "protocol", "exec_condition", "other",
	}
}

// unitSeen is what systemd says of a unit.
type unitSeen struct {
	load, state string
	// outcome is one of unitOutcomes, "" for a unit that has none.
	outcome string
	// ended is how the main process of a service ended, for people.
	ended string
	// started is in seconds since the epoch, zero while the unit is not active.
	started float64
	// restarts is nil where systemd does not count them.
	restarts *float64
}

// Collect asks systemd.
func (s *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	units, err := s.ask(ctx)
	if err != nil {
		err = fmt.Errorf("ask systemd at %s: %w", s.config.Bus, err)
		if over(ctx) {
			err = &collectors.Error[reason]{Reason: timeout, Err: err}
		}
	}
	var b collectors.Batch
	reason := reasonOfSystemd(err)
	b.Set(upMetric, collectors.Number(reason == ""), s.name)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), s.name, string(r))
	}
	for i, u := range units {
		s.unit(&b, s.config.Units[i], u)
	}
	s.note = noteOfUnits(s.config.Units, units)
	return b.Samples, err
}

// over says whether a round has had its time. Its connections end with it, and may do
// so before its context says it.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// ask connects, and asks for all units at once and for what else is known of each.
func (s *collector) ask(ctx context.Context) ([]unitSeen, error) {
	systemd, err := dialSystemd(ctx, s.config.Bus)
	if err != nil {
		return nil, err
	}
	defer systemd.Close()
	list, err := listUnits(ctx, systemd, s.config.Units)
	if err != nil {
		return nil, err
	}
	units := make([]unitSeen, len(list))
	var errs []error
	for i, status := range list {
		if units[i], err = parseUnit(status); err != nil {
			errs = append(errs, fmt.Errorf("unit %s: %w", s.config.Units[i], err))
		}
	}
	for i := range units {
		if err := units[i].details(ctx, systemd, list[i].Name); err != nil {
			errs = append(errs, fmt.Errorf("unit %s: %w", s.config.Units[i], err))
			break // whoever fails here is not asked a hundred times more
		}
	}
	return units, errors.Join(errs...)
}

// parseUnit reads the states of a unit. One that is not known is left empty.
func parseUnit(status manager.UnitStatus) (u unitSeen, err error) {
	load, state := strings.ReplaceAll(status.LoadState, "-", "_"), status.ActiveState
	if state == "refreshing" { // since version 257: active and changing, as reloading is
		state = "reloading"
	}
	if slices.Contains(unitStates(), state) {
		u.state = state
	} else {
		err = fmt.Errorf("state %q is unknown", collectors.OneLine(status.ActiveState, 40))
	}
	if slices.Contains(unitLoadStates(), load) {
		u.load = load
	} else {
		err = fmt.Errorf("load state %q is unknown", collectors.OneLine(status.LoadState, 40))
	}
	return u, err
}

// details asks for the properties of a unit. Each is asked for by itself: all together
// would make systemd read the unit's cgroup.
func (u *unitSeen) details(ctx context.Context, systemd *manager.Conn, unit string) error {
	if u.load == "not_found" && u.state == "inactive" {
		return nil
	}
	if u.state == "active" || u.state == "reloading" {
		entered, err := unitProperty[uint64](ctx, systemd, unit, "Unit", "ActiveEnterTimestamp") // in microseconds
		if err != nil {
			return err
		}
		u.started = float64(entered) / 1e6
	}
	kind := unitResults()[unitType(unit)]
	if kind == "" {
		return nil
	}
	result, err := unitProperty[string](ctx, systemd, unit, kind, "Result")
	if err != nil {
		return err
	}
	u.outcome = outcomeOf(result)
	if kind != "Service" {
		return nil
	}
	restarts, err := unitProperty[uint32](ctx, systemd, unit, kind, "NRestarts")
	switch said, _ := errors.AsType[dbus.Error](err); {
	case err == nil:
		u.restarts = new(float64(restarts))
	case said.Name != "org.freedesktop.DBus.Error.UnknownProperty": // known since version 235
		return err
	}
	if u.outcome == "success" {
		return nil
	}
	status, err := unitProperty[int32](ctx, systemd, unit, kind, "ExecMainStatus")
	if err == nil && status != 0 {
		u.ended = fmt.Sprint(status)
	}
	return err
}

func outcomeOf(result string) string {
	result = strings.ReplaceAll(result, "-", "_")
	if outcomes := unitOutcomes(); !slices.Contains(outcomes, result) {
		return outcomes[len(outcomes)-1]
	}
	return result
}

// unit exports what is known of one unit.
func (s *collector) unit(b *collectors.Batch, name string, u unitSeen) {
	set := func(metric *collectors.Def, value string, values []string) {
		if value == "" {
			return
		}
		for _, v := range values {
			b.Set(metric, collectors.Number(v == value), s.name, name, v)
		}
	}
	set(unitStateMetric, u.state, unitStates())
	set(unitLoadStateMetric, u.load, unitLoadStates())
	set(unitResultMetric, u.outcome, unitOutcomes())
	if u.started > 0 {
		b.Set(unitStartMetric, u.started, s.name, name)
	}
	if u.restarts != nil {
		b.Set(unitRestartsMetric, *u.restarts, s.name, name)
	}
}

// maxSystemdNote is how long a note may be in bytes.
const maxSystemdNote = 200

// Note says which units are not active, and why.
func (s *collector) Note() string { return s.note }

func noteOfUnits(names []string, units []unitSeen) string {
	var rest []string
	for i, u := range units {
		if u.state != "active" {
			rest = append(rest, names[i]+" "+u.String())
		}
	}
	switch {
	case len(units) == 0:
		return ""
	case len(rest) == 0 && len(units) == 1:
		return names[0] + " active"
	case len(rest) == 0:
		return fmt.Sprintf("%d units active", len(units))
	}
	return collectors.OneLine(strings.Join(rest, ", "), maxSystemdNote)
}

// String says in which state a unit is, in a few words.
func (u unitSeen) String() string {
	text := u.state
	if u.load != "loaded" {
		text = u.load
	}
	if u.outcome != "" && u.outcome != "success" {
		text += ": " + strings.TrimSpace(u.outcome+" "+u.ended)
	}
	return text
}

// Describe implements Collector.
func (s *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

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
	"github.com/vitals-health/vitals/internal/text"
)

// collector is the collector of the kind systemd.
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

// unitOutcomes are the results of services. The last is for all other results.
func unitOutcomes() []string {
	return []string{
		"success", "exit_code", "signal", "core_dump", "watchdog", "timeout", "start_limit_hit",
		"oom_kill", "resources", "protocol", "exec_condition", "other",
	}
}

// unit is the state of a unit.
type unit struct {
	load, state string
	// outcome is one of unitOutcomes, or "".
	outcome string
	// ended is the exit status or the signal of the main process of a service.
	ended string
	// started is in seconds since the epoch, zero while the unit is not active.
	started float64
	// restarts is nil if systemd does not count them.
	restarts *float64
}

// Collect queries systemd.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	units, err := c.query(ctx)
	if err != nil {
		err = fmt.Errorf("query systemd at %s: %w", c.config.Bus, err)
		if over(ctx) {
			err = &collectors.Error[reason]{Reason: timeout, Err: err}
		}
	}
	var b collectors.Batch
	reason := reasonOf(err)
	b.Set(upMetric, collectors.Number(reason == ""), c.name)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), c.name, string(r))
	}
	for i, u := range units {
		c.add(&b, c.config.Units[i], u)
	}
	c.note = noteOf(c.config.Units, units)
	return b.Samples, err
}

// over reports whether the deadline of a collection has passed. Its connections can end
// before its context does.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// query connects, queries all units at once and then the properties of each.
func (c *collector) query(ctx context.Context) ([]unit, error) {
	systemd, err := dial(ctx, c.config.Bus)
	if err != nil {
		return nil, err
	}
	defer systemd.Close()
	list, err := listUnits(ctx, systemd, c.config.Units)
	if err != nil {
		return nil, err
	}
	units := make([]unit, len(list))
	var errs []error
	for i, status := range list {
		if units[i], err = parseUnit(status); err != nil {
			errs = append(errs, fmt.Errorf("unit %s: %w", c.config.Units[i], err))
		}
	}
	for i := range units {
		if err := units[i].details(ctx, systemd, list[i].Name); err != nil {
			errs = append(errs, fmt.Errorf("unit %s: %w", c.config.Units[i], err))
			break // the others would fail too
		}
	}
	return units, errors.Join(errs...)
}

// parseUnit parses the states of a unit. An unknown one is left empty.
func parseUnit(status manager.UnitStatus) (u unit, err error) {
	load, state := strings.ReplaceAll(status.LoadState, "-", "_"), status.ActiveState
	if state == "refreshing" { // since version 257: active and changing, as reloading is
		state = "reloading"
	}
	if slices.Contains(unitStates(), state) {
		u.state = state
	} else {
		err = fmt.Errorf("state %q is unknown", text.Short(status.ActiveState, 40))
	}
	if slices.Contains(unitLoadStates(), load) {
		u.load = load
	} else {
		err = fmt.Errorf("load state %q is unknown", text.Short(status.LoadState, 40))
	}
	return u, err
}

// details queries the properties of a unit one by one. A query of all would make systemd
// read the cgroup of the unit.
func (u *unit) details(ctx context.Context, systemd *manager.Conn, unit string) error {
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
	switch answer, _ := errors.AsType[dbus.Error](err); {
	case err == nil:
		u.restarts = new(float64(restarts))
	case answer.Name != "org.freedesktop.DBus.Error.UnknownProperty": // exists since version 235
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

// add exports the samples of a unit.
func (c *collector) add(b *collectors.Batch, name string, u unit) {
	set := func(metric *collectors.Def, value string, values []string) {
		if value == "" {
			return
		}
		for _, v := range values {
			b.Set(metric, collectors.Number(v == value), c.name, name, v)
		}
	}
	set(unitStateMetric, u.state, unitStates())
	set(unitLoadStateMetric, u.load, unitLoadStates())
	set(unitResultMetric, u.outcome, unitOutcomes())
	if u.started > 0 {
		b.Set(unitStartMetric, u.started, c.name, name)
	}
	if u.restarts != nil {
		b.Set(unitRestartsMetric, *u.restarts, c.name, name)
	}
}

// maxNote limits a note in bytes.
const maxNote = 200

// Note lists the units that are not active, with their results.
func (c *collector) Note() string { return c.note }

func noteOf(names []string, units []unit) string {
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
	return text.Short(strings.Join(rest, ", "), maxNote)
}

// String describes the state of a unit.
func (u unit) String() string {
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
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

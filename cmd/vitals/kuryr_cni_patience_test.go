//go:build !race

package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// signs are series, as a rule file would select them, and their values.
type signs map[string]float64

// gone is the value of a series that is not there.
const gone = -1

// errLost is the error of a lost collection.
var errLost = errors.New("lost")

// sampleSource is a collector that returns the samples of a test.
type sampleSource struct {
	began time.Time
	show  func(at time.Duration) (signs, error)
}

func (l *sampleSource) Collect(context.Context) ([]collectors.Sample, error) {
	shown, err := l.show(time.Since(l.began))
	if err != nil {
		return nil, err
	}
	var samples []collectors.Sample
	for _, series := range slices.Sorted(maps.Keys(shown)) {
		if shown[series] == gone {
			continue
		}
		ls, err := parser.NewParser(parser.Options{}).ParseMetric(series)
		if err != nil {
			return nil, err
		}
		samples = append(samples, collectors.Sample{Labels: ls, Value: shown[series]})
	}
	return samples, nil
}

func (*sampleSource) Describe() []collectors.Desc { return nil }

// healthyNode returns the series of a healthy node, by the names of the collectors.
func healthyNode() map[string]signs {
	return map[string]signs{
		"kubernetes": {
			`vitals_dependency_up{dependency="kubernetes"}`:                                                              1,
			`vitals_kubernetes_access_allowed{dependency="kubernetes",resource="openstack.org/kuryrports",verb="watch"}`: 1,
		},
		"net-admin": {`vitals_process_capability{process="net-admin",capability="NET_ADMIN",set="effective"}`: 1},
		"daemon":    {`vitals_process_up{process="daemon"}`: 1},
		"netlink": {
			`vitals_netlink_up{netlink="netlink"}`:                                   1,
			`vitals_netlink_failure{netlink="netlink",reason="timeout"}`:             0,
			`vitals_netlink_failure{netlink="netlink",reason="protocol"}`:            0,
			`vitals_netlink_failure{netlink="netlink",reason="forbidden"}`:           0,
			`vitals_netlink_interface_present{netlink="netlink",interface="br-int"}`: 1,
			`vitals_netlink_interface_up{netlink="netlink",interface="br-int"}`:      1,
		},
		"memory": {
			`vitals_cgroup_memory_working_set_bytes{cgroup="memory"}`:                       100 * mebibyte,
			`vitals_cgroup_memory_swap_bytes{cgroup="memory"}`:                              0,
			`vitals_memory_limit_bytes{cgroup="memory"}`:                                    512 * mebibyte,
			`vitals_cgroup_memory_oom_kills_total{cgroup="memory"}`:                         0,
			`vitals_cgroup_memory_pressure_ratio{cgroup="memory",kind="full",window="60s"}`: 0,
			`vitals_cgroup_failure{cgroup="memory",reason="missing"}`:                       0,
		},
		"components": {
			`vitals_component_events_total{component="server",event="cni_add",result="success"}`: 0,
			`vitals_component_events_total{component="server",event="cni_add",result="excused"}`: 0,
		},
		"cni-config": {
			`vitals_file_exists{file="cni-config"}`:                           1,
			`vitals_file_valid{file="cni-config",format="json"}`:              1,
			`vitals_file_key_present{file="cni-config",key="plugins.0.type"}`: 1,
		},
		"cni-plugin": {
			`vitals_file_exists{file="cni-plugin"}`:                                       1,
			`vitals_file_size_bytes{file="cni-plugin"}`:                                   1,
			`vitals_file_info{file="cni-plugin",path="/p",type="regular"}`:                1,
			`vitals_file_permission{file="cni-plugin",class="user",permission="execute"}`: 1,
		},
		"kuryr-conf": {`vitals_file_exists{file="kuryr-conf"}`: 1, `vitals_file_valid{file="kuryr-conf",format="ini"}`: 1},
	}
}

// change is a verdict of ready or alive that is another one than before.
type change struct {
	State, Verdict string
	// Rules are those that decide, or warn.
	Rules string
}

// timed is a change and when it was seen, to the second.
type timed struct {
	change
	at time.Duration
}

// differs returns how the samples of a collector differ from those of a healthy node,
// at a moment: nothing, other values, or a lost collection.
type differs func(collector string, at time.Duration) (signs, error)

// watchNode plays a node for some time, with all rules as they are shipped and the
// memory limit, and returns every change after the first minute. What is apart is
// exported by a separate collector, and all else by one: fewer collections take less time.
func watchNode(t *testing.T, duration time.Duration, d differs, apart ...string) (changes []timed) {
	t.Helper()
	l := mustLoadCNI(t, "[cni_health_server]\nmax_memory_usage = 512\n", map[string]string{"process": "kuryr-daemon"})
	interval := time.Second
	if duration > 6*time.Minute {
		interval = 5 * time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		collectorOf := map[string][]string{}
		for name := range healthyNode() {
			if got := time.Duration(collectorNamed(l, name).Interval); got != collectEvery {
				t.Fatalf("collector %s collects every %s, want %s", name, got, collectEvery)
			}
			if slices.Contains(apart, name) {
				collectorOf[name] = []string{name}
			} else {
				collectorOf["node"] = append(collectorOf["node"], name)
			}
		}
		var sources []evaluator.Source
		for name, shown := range collectorOf {
			sources = append(sources, evaluator.Source{
				Name: name, Interval: collectEvery, Timeout: time.Second, Collector: &sampleSource{began, d.of(shown)},
			})
		}
		eval, err := evaluator.New(evaluator.Config{Interval: interval, Files: l.Rules, Sources: sources}, evaluator.Options{Logger: discard()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { eval.Run(ctx) })
		last := map[string]change{}
		for time.Since(began) < duration {
			time.Sleep(interval)
			s := eval.Snapshot()
			for _, state := range []string{evaluator.Ready, evaluator.Alive} {
				now := verdictOf(s, state)
				if time.Since(began) > time.Minute && now != last[state] {
					changes = append(changes, timed{now, time.Since(began)})
				}
				last[state] = now
			}
		}
		cancel()
		ended.Wait()
	})
	return changes
}

// of returns the series of one collection of several collectors, which is lost as a whole.
func (d differs) of(names []string) func(time.Duration) (signs, error) {
	well := healthyNode()
	return func(at time.Duration) (signs, error) {
		all := signs{}
		for _, name := range names {
			other, err := d(name, at)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, well[name])
			maps.Copy(all, other)
		}
		return all, nil
	}
}

func verdictOf(s *evaluator.Snapshot, state string) change {
	v, _ := s.State(state, s.At)
	var names []string
	for _, i := range v.Deciding {
		names = append(names, s.Rules[i].Name)
	}
	return change{state, v.Verdict.String(), strings.Join(names, " ")}
}

// cniFaults are what can be wrong with a node for a while: the collector that shows
// it, and what it then shows.
func cniFaults() []struct {
	name, collector string
	shows           signs
	ready, alive    string
} {
	return []struct {
		name, collector string
		shows           signs
		ready, alive    string
	}{
		{"Kubernetes is down", "kubernetes", signs{`vitals_dependency_up{dependency="kubernetes"}`: 0}, "KubernetesDown", ""},
		{"a right is missing", "kubernetes", signs{`vitals_kubernetes_access_allowed{dependency="kubernetes",resource="openstack.org/kuryrports",verb="watch"}`: 0}, "KubernetesAccessDenied", ""},
		{"NET_ADMIN is missing", "net-admin", signs{`vitals_process_capability{process="net-admin",capability="NET_ADMIN",set="effective"}`: 0}, "NetAdminMissing", ""},
		{"the daemon is gone", "daemon", signs{`vitals_process_up{process="daemon"}`: 0}, "DaemonGone", ""},
		{"netlink hangs", "netlink", signs{`vitals_netlink_up{netlink="netlink"}`: 0, `vitals_netlink_failure{netlink="netlink",reason="timeout"}`: 1}, "NetlinkDown", "NetlinkStuck"},
		{"netlink is forbidden", "netlink", signs{`vitals_netlink_up{netlink="netlink"}`: 0, `vitals_netlink_failure{netlink="netlink",reason="forbidden"}`: 1}, "NetlinkDown", ""},
		{"the bridge is gone", "netlink", signs{`vitals_netlink_interface_present{netlink="netlink",interface="br-int"}`: 0}, "InterfaceMissing", ""},
		{"too much memory is used", "memory", signs{`vitals_cgroup_memory_working_set_bytes{cgroup="memory"}`: 513 * mebibyte}, "", "MemoryLimitExceeded"},
		{"the CNI configuration is cut off", "cni-config", signs{`vitals_file_valid{file="cni-config",format="json"}`: 0}, "CNIConfigBroken", ""},
		{"the plugin is empty", "cni-plugin", signs{`vitals_file_size_bytes{file="cni-plugin"}`: 0}, "CNIPluginBroken", ""},
		{"kuryr.conf makes no sense", "kuryr-conf", signs{`vitals_file_valid{file="kuryr-conf",format="ini"}`: 0}, "KuryrConfBroken", ""},
	}
}

const (
	// collectEvery is the interval of all collectors, from which each collection differs by half
	// a second at most: there are two collections in 21 s and three in 31.5 s at least.
	collectEvery = 10 * time.Second
	faultBegan   = 2 * time.Minute
)

// during reports whether a moment is within a fault.
func during(at, length time.Duration) bool { return at >= faultBegan && at < faultBegan+length }

// oneCollection selects the first collection at or after a moment.
func oneCollection(from time.Duration) func(at time.Duration) bool {
	first := time.Duration(0)
	return func(at time.Duration) bool {
		if first == 0 && at >= from {
			first = at
		}
		return first != 0 && at == first
	}
}

// A single collection in which every check fails changes no verdict. Nor does a single lost
// collection of every collector.
func TestCNIOneCollectionDecidesNothing(t *testing.T) {
	t.Parallel()
	for what, err := range map[string]error{"is bad": nil, "gets lost": errLost} {
		t.Run(what, func(t *testing.T) {
			collections, chosen := 0, oneCollection(faultBegan)
			changes := watchNode(t, 4*time.Minute, func(collector string, at time.Duration) (signs, error) {
				if !chosen(at) {
					return nil, nil
				}
				shown := signs{}
				for _, f := range cniFaults() {
					if collector == f.collector {
						maps.Copy(shown, f.shows)
					}
				}
				if collections += len(shown); err != nil {
					collections++ // a collection is lost with the first collector, which may be one that shows nothing bad
				}
				return shown, err
			})
			if len(changes) > 0 {
				t.Errorf("verdicts = %v, want none to change", changes)
			}
			if collections == 0 {
				t.Error("no collection showed anything bad, want one")
			}
		})
	}
}

// A lasting fault changes ready after two collections and alive after three, and not before.
// A lost collection in between does not change ready.
func TestCNIFaultThatLasts(t *testing.T) {
	t.Parallel()
	const length = time.Minute
	for _, f := range cniFaults() {
		t.Run(f.name, func(t *testing.T) {
			var want []change
			if f.ready != "" {
				want = append(want, change{"ready", "fail", f.ready})
			}
			if f.alive != "" {
				if f.ready == "" {
					want = append(want, change{"ready", "fail", ""})
				}
				want = append(want, change{"alive", "fail", f.alive}, change{"alive", "pass", ""})
			}
			want = append(want, change{"ready", "pass", ""})
			got := watchNode(t, 4*time.Minute, func(collector string, at time.Duration) (signs, error) {
				if collector == f.collector && during(at, length) {
					return f.shows, nil
				}
				return nil, nil
			})
			checkChanges(t, got, want)
			for _, c := range got {
				after := c.at - faultBegan
				switch {
				case c.Verdict == "fail" && c.State == "ready" && f.ready != "" && (after < 15*time.Second || after > 27*time.Second):
					t.Errorf("%s fails %s after the fault began, want after two collections", c.State, after)
				case c.Verdict == "fail" && c.State == "alive" && (after < 25*time.Second || after > 37*time.Second):
					t.Errorf("%s fails %s after the fault began, want after three collections", c.State, after)
				case c.Verdict == "pass" && (after < length || after > length+27*time.Second):
					t.Errorf("%s passes %s after the fault began, want soon after its end", c.State, after)
				}
			}
		})
	}
}

// checkChanges compares changes without regard to the order of the two states.
func checkChanges(t *testing.T, got []timed, want []change) {
	t.Helper()
	var changes []change
	for _, c := range got {
		changes = append(changes, c.change)
	}
	order := func(a, b change) int { return strings.Compare(a.State, b.State) }
	slices.SortStableFunc(changes, order)
	slices.SortStableFunc(want, order)
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s\n%v", diff, got)
	}
}

//go:build !race

package main

import (
	"strings"
	"testing"
	"time"
)

// A lost collection during a fault does not make the node ready.
func TestCNILostCollectionClearsNothing(t *testing.T) {
	t.Parallel()
	for _, f := range cniFaults() {
		if f.ready == "" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			lost := oneCollection(faultBegan + time.Minute)
			got := watchNode(t, 5*time.Minute, func(collector string, at time.Duration) (signs, error) {
				switch {
				case collector != f.collector || !during(at, 2*time.Minute):
					return nil, nil
				case lost(at):
					return nil, errLost
				}
				return f.shows, nil
			}, f.collector)
			var ready []timed
			for _, c := range got {
				if c.State == "ready" {
					ready = append(ready, c)
				}
			}
			if len(ready) != 2 || ready[0].Rules != f.ready || ready[1].Verdict != "pass" {
				t.Errorf("changes of ready = %v, want one to %s and one back", ready, f.ready)
			}
		})
	}
}

// Missing evidence makes the node not ready, and restarts nothing.
func TestCNIWithoutEvidence(t *testing.T) {
	t.Parallel()
	for _, collector := range []string{"kubernetes", "net-admin", "netlink", "cni-config", "cni-plugin", "kuryr-conf"} {
		t.Run(collector, func(t *testing.T) {
			got := watchNode(t, 5*time.Minute, func(c string, at time.Duration) (signs, error) {
				if c == collector && during(at, time.Minute) {
					return nil, errLost
				}
				return nil, nil
			}, collector)
			checkChanges(t, got, []change{{"ready", "fail", "Unmeasured"}, {"ready", "pass", ""}})
		})
	}
}

// Memory that cannot be measured is reported, and restarts nothing.
func TestCNIMemoryWithoutEvidence(t *testing.T) {
	t.Parallel()
	got := watchNode(t, 5*time.Minute, func(c string, at time.Duration) (signs, error) {
		if c == "memory" && during(at, 2*time.Minute) {
			return signs{`vitals_cgroup_failure{cgroup="memory",reason="missing"}`: 1}, nil
		}
		return nil, nil
	})
	checkChanges(t, got, []change{{"alive", "warn", "MemoryUnmeasured"}, {"alive", "pass", ""}})
	if got := watchNode(t, 5*time.Minute, func(c string, at time.Duration) (signs, error) {
		if c == "memory" && during(at, 2*time.Minute) {
			return nil, errLost
		}
		return nil, nil
	}, "memory"); len(got) > 0 {
		t.Errorf("changes = %v, want none while the memory is unknown", got)
	}
}

// grows is the memory of a daemon that leaks: so much at first, and so much more in a
// minute, in MiB.
func grows(first, perMinute float64, until time.Duration) differs {
	return func(c string, at time.Duration) (signs, error) {
		if c != "memory" {
			return nil, nil
		}
		used := first + perMinute*min(at, until).Minutes()
		return signs{`vitals_cgroup_memory_working_set_bytes{cgroup="memory"}`: used * mebibyte}, nil
	}
}

// A daemon that leaks is warned of before it exceeds its limit of 512 MiB, and
// restarted then. One that does not reach it within the hour, or stops growing soon
// after its start, is not.
func TestCNIMemoryTrend(t *testing.T) {
	t.Parallel()
	const always = 24 * time.Hour
	warned := change{"alive", "warn", "MemoryGrowsToLimit"}
	t.Run("reaches its limit in 40 minutes", func(t *testing.T) {
		t.Parallel()
		got := watchNode(t, 42*time.Minute, grows(100, 412.0/40, always))
		checkChanges(t, got, []change{warned, {"alive", "fail", "MemoryLimitExceeded"}, {"ready", "fail", ""}})
		if len(got) == 3 && (got[0].at < 15*time.Minute || got[0].at > 16*time.Minute || got[1].at < 40*time.Minute || got[1].at > 41*time.Minute) {
			t.Errorf("changes = %v, want the warning after 15 minutes and the end after 40", got)
		}
	})
	for name, leak := range map[string]differs{
		"would reach its limit in 100 minutes": grows(100, 4.12, always),
		"grows for four minutes after start":   grows(50, 25, 4*time.Minute),
		"does not grow and is near the limit":  grows(511, 0, always),
		"shrinks":                              grows(500, -1, always),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := watchNode(t, 20*time.Minute, leak); len(got) > 0 {
				t.Errorf("changes = %v, want none", got)
			}
		})
	}
}

// Without a limit of kuryr.conf, that of the kernel is the one that is reached.
func TestCNIMemoryTrendTowardsTheKernelsLimit(t *testing.T) {
	t.Parallel()
	const own, kernels = `vitals_memory_limit_bytes{cgroup="memory"}`, `vitals_cgroup_memory_limit_bytes{cgroup="memory"}`
	leak := grows(100, 10, 24*time.Hour)
	got := watchNode(t, 20*time.Minute, func(c string, at time.Duration) (signs, error) {
		shown, err := leak(c, at)
		if c == "memory" {
			shown[kernels], shown[own] = 400*mebibyte, gone
		}
		return shown, err
	})
	checkChanges(t, got, []change{{"alive", "warn", "MemoryGrowsToLimit"}})
}

// Warnings are shown, and no probe fails.
func TestCNIWarnings(t *testing.T) {
	t.Parallel()
	const counted = `vitals_component_events_total{component="server",event="cni_add",result=`
	minutes := func(at time.Duration) float64 { return float64(int(max(at-faultBegan, 0).Minutes())) }
	for _, tt := range []struct {
		name, collector string
		shows           func(at time.Duration) signs
		want            []change
	}{
		{"requests fail for reasons that are excused, and none succeeds", "components", func(at time.Duration) signs {
			return signs{counted + `"excused"}`: minutes(at)}
		}, []change{{"ready", "warn", "CNIAddExcused"}}},
		{"requests fail for reasons that are excused, and some succeed", "components", func(at time.Duration) signs {
			return signs{counted + `"excused"}`: minutes(at), counted + `"success"}`: minutes(at)}
		}, nil},
		{"the kernel kills a process", "memory", func(at time.Duration) signs {
			return signs{`vitals_cgroup_memory_oom_kills_total{cgroup="memory"}`: min(minutes(at), 1)}
		}, []change{{"ready", "warn", "OutOfMemory"}, {"ready", "pass", ""}}},
		{"the host is short of memory", "memory", func(at time.Duration) signs {
			return signs{`vitals_cgroup_memory_pressure_ratio{cgroup="memory",kind="full",window="60s"}`: min(minutes(at), 1) * 0.5}
		}, []change{{"ready", "warn", "MemoryPressure"}}},
		{"the bridge is down, as one of Open vSwitch may be", "netlink", func(at time.Duration) signs {
			return signs{`vitals_netlink_interface_up{netlink="netlink",interface="br-int"}`: 1 - min(minutes(at), 1)}
		}, []change{{"ready", "warn", "InterfaceDown"}}},
		{"descriptors run out", "daemon", func(at time.Duration) signs {
			return signs{`vitals_process_open_fds{process="daemon"}`: 500 + 100*min(minutes(at), 5), `vitals_process_max_fds{process="daemon"}`: 1024}
		}, []change{{"alive", "warn", "DescriptorsNearlyUsedUp"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := watchNode(t, 15*time.Minute, func(c string, at time.Duration) (signs, error) {
				if c == tt.collector {
					return tt.shows(at), nil
				}
				return nil, nil
			})
			checkChanges(t, got, tt.want)
			for _, c := range got {
				if strings.Contains(c.Verdict, "fail") {
					t.Errorf("change %v, want no probe to fail", c)
				}
			}
		})
	}
}

package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/config"
)

// watchDown is the answer where nothing but the watches is wrong. It names one of them.
const watchDown = "KubernetesWatchDown failing: The watch of RESOURCE is not connected."

// kuryrWatchCases are what the API server may do to a watch. In each of them the
// original stays alive and tries on for ever without a pause, or restarts.
func kuryrWatchCases() []kuryrCase {
	broken := fails(kubernetesDown, watchFollows)
	return []kuryrCase{
		{id: "W01", name: "the API refuses connections", given: []step{fault("kubernetes", "refuse")}, ready: broken, check: watchPauses},
		{id: "W02", name: "the API is a black hole", given: []step{fault("kubernetes", "hang")}, ready: broken, check: watchPauses},
		{id: "W03", name: "the API answers 401", given: []step{fault("kubernetes", "401")}, ready: broken, check: watchPauses},
		{id: "W03", name: "the API answers 403", given: []step{fault("kubernetes", "403")}, ready: broken, check: watchPauses},
		{id: "W03", name: "the API answers 500", given: []step{fault("kubernetes", "500")}, ready: broken, check: watchPauses},
		{id: "W04", name: "the API closes each watch at once", given: []step{fault("kubernetes", "drop-watch")},
			ready: fails(watchDown), check: watchPauses},
	}
}

func TestKuryrWatch(t *testing.T) {
	t.Parallel()
	startKuryrLab(t, labOptions{}).runCases(t, kuryrWatchCases())
}

// kuryrSilentWatchCases need a lab that keeps the for of the shipped rules.
func kuryrSilentWatchCases() []kuryrCase {
	return []kuryrCase{{id: "A29", name: "an open watch falls silent", given: []step{fault("kubernetes", "freeze-watch")},
		check: watchIsOpenedAnew, after: watchDelivers}}
}

// A silent watch is closed and opened again. As long as that succeeds, it is no
// outage: the labPatience of the rule covers the pause in between.
func TestKuryrSilentWatch(t *testing.T) {
	t.Parallel()
	lab := startKuryrLab(t, labOptions{shippedFor: true, pace: calmPace, adjust: func(c *config.Config) {
		for i := range c.Collectors {
			if k := c.Collectors[i].Kubernetes; k != nil {
				k.WatchIdleTimeout = model.Duration(time.Second)
			}
		}
	}})
	lab.await(t, "ready", verdict{})
	watchDelivers(t, lab)
	before := lab.transitions(t, "ready")
	lab.runCases(t, kuryrSilentWatchCases())
	if got := lab.transitions(t, "ready"); got != before {
		t.Errorf("ready changed %d times, want never", got-before)
	}
}

// watchRestarts is how often the watch of a resource was opened again.
func watchRestarts(t *testing.T, l *kuryrLab, resource string) int {
	t.Helper()
	count := 0
	soon(t, func() string {
		value := l.metric(t, `vitals_kubernetes_watch_restarts_total{dependency="kubernetes",resource="`+resource+`"}`)
		var err error
		if count, err = strconv.Atoi(value); err != nil {
			return "the restarts of the watch of " + resource + " are " + strconv.Quote(value) + ", want a number"
		}
		return ""
	})
	return count
}

func watchIsOpenedAnew(t *testing.T, l *kuryrLab) {
	soon(t, func() string {
		if n := watchRestarts(t, l, "pods"); n < 2 {
			return "the silent watch was opened again " + strconv.Itoa(n) + " times, want it more than once"
		}
		return ""
	})
}

// watchPauses checks that a watch that fails is not tried in a hot loop: pauses of
// 0.5, 1, 2 seconds and so on leave at most three attempts in a second.
func watchPauses(t *testing.T, l *kuryrLab) {
	t.Helper()
	restarts := func() int { return watchRestarts(t, l, "pods") + watchRestarts(t, l, "services") }
	connections, requests := l.cloud.Traffic("kubernetes")
	began, before := time.Now(), restarts()
	soon(t, func() string {
		if time.Since(began) < time.Second {
			return "the second is not over"
		}
		return ""
	})
	seconds := int(time.Since(began)/time.Second) + 1
	if got, most := restarts()-before, 6*seconds; got > most {
		t.Errorf("two watches were tried %d times in %d seconds, want at most %d", got, seconds, most)
	}
	connectionsNow, requestsNow := l.cloud.Traffic("kubernetes")
	// A collection makes ten requests, each of which may need a new connection.
	if got, most := connectionsNow-connections, uint64(100*seconds); got > most {
		t.Errorf("%d connections in %d seconds, want at most %d", got, seconds, most)
	}
	if got, most := requestsNow-requests, uint64(100*seconds); got > most {
		t.Errorf("%d requests in %d seconds, want at most %d", got, seconds, most)
	}
}

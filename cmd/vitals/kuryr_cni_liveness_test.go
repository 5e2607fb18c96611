package main

import (
	"fmt"
	"slices"
	"testing"
)

// cniComponentCases are those of the byte that each part of the daemon shares.
func cniComponentCases() []kuryrCase {
	dead := []step{boolean("watcher", false)}
	died := kuryrCase{ready: fails(notAlive), alive: fails(componentDead("watcher"))}
	return []kuryrCase{
		{id: "N04", name: "both booleans are true, netlink works, no memory limit"},
		{id: "N05", name: "a boolean is false", given: dead, ready: died.ready, alive: died.alive,
			check: series(`vitals_component_alive{component="server"}`, "1")},
		{id: "N20", name: "a boolean is false and true again", given: dead, ready: died.ready, alive: died.alive,
			after: series(`vitals_component_alive{component="watcher"}`, "1")},
		{id: "N05", name: "the file of a boolean is gone", given: []step{noFile("shm/watcher")},
			ready: fails("ComponentMissing failing: Nothing is known of the component watcher, which is expected to report."),
			check: series(`vitals_component_alive{component="watcher"}`, "")},
	}
}

// cniNetlinkCases are those of "IPDB in working order".
func cniNetlinkCases() []kuryrCase {
	var cases []kuryrCase
	for _, reason := range netlinkReasons() {
		c := kuryrCase{id: "N06", name: "netlink fails: " + reason, given: []step{netlinkFails(reason)}, ready: fails(netlinkDown)}
		if reason == "timeout" || reason == "protocol" {
			c.alive = fails(netlinkStuck)
		}
		cases = append(cases, c)
	}
	return append(cases, kuryrCase{id: "N19", name: "netlink fails and a boolean is false",
		given: []step{netlinkFails("timeout"), boolean("watcher", false)},
		ready: fails(netlinkDown), alive: fails(netlinkStuck, componentDead("watcher"))})
}

// cniBooleans is --set shared_booleans for the node of a lab.
const cniBooleans = "watcher:TREE/shm/watcher,server:TREE/shm/server"

func TestCNILiveness(t *testing.T) {
	t.Parallel()
	lab := startCNILab(t, labOptions{set: map[string]string{"shared_booleans": cniBooleans}})
	lab.runCases(t, cniComponentCases())
	lab.runCases(t, cniNetlinkCases())
}

// cniOutcomes are the ways in which the daemon answers a request, as its server
// reports them: four in a row, with a limit of three.
func cniOutcomes() []kuryrCase {
	const add, del, ok, failed = "cni_add", "cni_del", "success", "failure"
	var cases []kuryrCase
	for _, o := range []struct {
		id, name, event, result, class string
		// counts reports whether four of them are too many.
		counts bool
	}{
		{"F01", "ADD is served", add, ok, "", false},
		{"F02", "DEL is served", del, ok, "", false},
		{"F03", "ADD is malformed", add, failed, "malformed", false},
		{"F04", "DEL is malformed", del, failed, "malformed", false},
		{"F05", "ADD of a pod that is gone", add, failed, "pod_gone", false},
		{"F06", "ADD of a pod that has another UID", add, failed, "pod_gone", false},
		{"F07", "ADD waits in vain for its KuryrPort", add, failed, "timeout", false},
		{"F08", "ADD meets an interface that exists already", add, failed, "exists", false},
		{"F09", "ADD gets another error of netlink", add, failed, "netlink", true},
		{"F10", "ADD ends in any other exception", add, failed, "internal", true},
		{"F10", "ADD ends in an error without a name", add, failed, "", true},
		{"F11", "DEL waits in vain for its KuryrPort", del, failed, "timeout", false},
		{"F12", "DEL of a pod that has another UID", del, failed, "pod_gone", false},
		{"F13", "DEL of a pod that is gone", del, failed, "pod_gone", false},
		{"F14", "DEL meets an interface that exists already", del, failed, "exists", false},
		{"F15", "DEL ends in any other exception", del, failed, "internal", false},
		{"A21", "the server answers ADD with 202", add, ok, "", false},
		{"A22", "the server answers ADD with 504", add, failed, "timeout", false},
		{"A23", "the server answers ADD with 500", add, failed, "internal", true},
		{"A24", "the server answers DEL with 204", del, ok, "", false},
		{"A25", "the server answers DEL with 204 after its time is over", del, ok, "", false},
		{"A26", "the server answers DEL with 500", del, failed, "internal", false},
	} {
		c := kuryrCase{id: o.id, name: o.name, given: []step{requests(4, o.event, o.result, o.class)}}
		if o.counts {
			c.ready, c.alive = fails(notAlive), fails(addFailing(4))
		}
		cases = append(cases, c)
	}
	return cases
}

func addFailing(count int) string {
	return fmt.Sprintf("CNIAddFailing failing: %d CNI ADD requests failed in a row.", count)
}

// cniCountCases are those of the limit of three: how many failures it takes, and what
// ends them.
func cniCountCases() []kuryrCase {
	fail := func(count int) step { return requests(count, "cni_add", "failure", "internal") }
	served := requests(1, "cni_add", "success", "")
	const row = `vitals_component_consecutive_failures{component="server",event="cni_add"}`
	tooMany := func(count int) verdict { return fails(addFailing(count)) }
	return []kuryrCase{
		{id: "F18", name: "three failures in a row, with a limit of 3", given: []step{fail(3)}, check: series(row, "3"), after: series(row, "0")},
		{id: "F18", name: "four failures in a row, with a limit of 3", given: []step{fail(4)},
			ready: fails(notAlive), alive: tooMany(4), check: series(row, "4"), after: series(row, "0")},
		{id: "F19", name: "99 failures with a success after every third",
			given: slices.Repeat([]step{fail(3), served}, 33), check: series(row, "0")},
		{id: "F19", name: "failures that are excused come in between",
			given: []step{fail(2), requests(9, "cni_add", "failure", "timeout"), fail(2)},
			ready: fails(notAlive), alive: tooMany(4)},
	}
}

func TestCNIRequests(t *testing.T) {
	t.Parallel()
	lab := startCNILab(t, labOptions{set: map[string]string{"components": "server"}})
	lab.requests(t, 0, "", "", "") // the counters begin at 0
	lab.round(t)
	lab.requests(t, 1, "cni_add", "success", "")
	lab.runCases(t, cniOutcomes())
	lab.runCases(t, cniCountCases())
}

// cniHistogramCases are those of a daemon that reports nothing: what its own metrics
// report on its requests.
func cniHistogramCases() []kuryrCase {
	failing := fails("CNIAddFailingByHistogram failing: 4 CNI ADD requests failed in a row.")
	fail := func(count int) step { return answers(count, "ADD", "True", 2) }
	served := answers(1, "ADD", "False", 2)
	return []kuryrCase{
		{id: "F01", name: "four ADD are served", given: []step{answers(4, "ADD", "False", 2)}},
		{id: "F07", name: "four ADD wait in vain for a minute", given: []step{answers(4, "ADD", "True", 60)}},
		{id: "F10", name: "four ADD fail", given: []step{fail(4)}, ready: fails(notAlive), alive: failing},
		{id: "F15", name: "four DEL fail", given: []step{answers(4, "DEL", "True", 2)}},
		{id: "F18", name: "three ADD fail, with a limit of 3", given: []step{fail(3)}},
		{id: "F19", name: "99 ADD fail between two collections, and one is served", given: []step{fail(99), served}},
	}
}

func TestCNIHistogram(t *testing.T) {
	t.Parallel()
	startCNILab(t, labOptions{}).runCases(t, cniHistogramCases())
}

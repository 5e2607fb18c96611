package components_test

import (
	"fmt"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/components"
)

// exampleComponents makes a collector of the kind components.
func exampleComponents(config components.Config) *components.Collector {
	collector, err := config.New(collectors.Env{Name: "parts"})
	if err != nil {
		panic(err)
	}
	return collector.(*components.Collector)
}

func ExampleCollector_Report() {
	c := exampleComponents(components.Config{Expect: []string{"watcher"}})

	ready := true
	err := c.Report("watcher", collectors.Report{Ready: &ready, Reason: "synced 42 pods"})
	fmt.Println(err, c.Status()[0].Reason)
	err = c.Report("wacher", collectors.Report{Ready: &ready})
	fmt.Println(err)
	// Output:
	// <nil> synced 42 pods
	// unknown component "wacher": expected one of watcher
}

func ExampleCollector_Report_events() {
	c := exampleComponents(components.Config{Events: map[string]components.Events{
		"cni_add": {Errors: []string{"netlink"}, Excused: []string{"timeout"}},
	}})

	err := c.Report("server", collectors.Report{Events: []collectors.Event{
		{Event: "cni_add", Result: components.EventFailure, Error: "netlink"},
	}})
	fmt.Println(err)
	err = c.Report("server", collectors.Report{Events: []collectors.Event{
		{Event: "cni_del", Result: components.EventSuccess},
	}})
	fmt.Println(err)
	// Output:
	// <nil>
	// invalid report: event "cni_del": expected one of cni_add
}

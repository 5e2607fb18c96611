package collectors_test

import (
	"fmt"

	"github.com/vitals-health/vitals/collectors"
)

// exampleComponents makes a collector of the kind components.
func exampleComponents(config collectors.ComponentsConfig) *collectors.Components {
	collector, err := config.New(collectors.Env{Name: "parts"})
	if err != nil {
		panic(err)
	}
	return collector.(*collectors.Components)
}

func ExampleComponents_Report() {
	components := exampleComponents(collectors.ComponentsConfig{Expect: []string{"watcher"}})

	ready := true
	err := components.Report("watcher", collectors.Report{Ready: &ready, Reason: "synced 42 pods"})
	fmt.Println(err, components.Status()[0].Reason)
	err = components.Report("wacher", collectors.Report{Ready: &ready})
	fmt.Println(err)
	// Output:
	// <nil> synced 42 pods
	// unknown component "wacher": expected one of watcher
}

func ExampleComponents_Report_events() {
	components := exampleComponents(collectors.ComponentsConfig{Events: map[string]collectors.ComponentEvents{
		"cni_add": {Errors: []string{"netlink"}, Excused: []string{"timeout"}},
	}})

	err := components.Report("server", collectors.Report{Events: []collectors.ComponentEvent{
		{Event: "cni_add", Result: collectors.EventFailure, Error: "netlink"},
	}})
	fmt.Println(err)
	err = components.Report("server", collectors.Report{Events: []collectors.ComponentEvent{
		{Event: "cni_del", Result: collectors.EventSuccess},
	}})
	fmt.Println(err)
	// Output:
	// <nil>
	// invalid report: event "cni_del": expected one of cni_add
}

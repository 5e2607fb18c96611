package main

import (
	"fmt"
	"testing"
)

// quotaSeries is one series of a port's, or another resource's, quota.
func quotaSeries(what, resource string) string {
	return fmt.Sprintf("vitals_neutron_quota_%s{dependency=%q,resource=%q}", what, "neutron", resource)
}

// kuryrQuotaCases are the scenarios about Neutron's quotas.
func kuryrQuotaCases() []kuryrCase {
	port := func(limit, used, reserved int) []step { return []step{quota("port", limit, used, reserved)} }
	low := warns("QuotaLow")
	return []kuryrCase{
		{id: "Q01", name: "ports are unlimited", given: port(-1, 5000, 0)},
		{id: "Q02", name: "5 ports are free", given: port(100, 95, 0)},
		{id: "Q02", name: "4 ports are free", given: port(100, 96, 0)},
		{id: "Q03", name: "3 ports are free", given: port(100, 97, 0), ready: low},
		{id: "Q03", name: "1 port is free and reserved", given: port(100, 99, 1), ready: low},
		{id: "Q04", name: "no port is free", given: port(100, 100, 0), ready: fails(quotaExhausted("port", 0))},
		{id: "Q05", name: "more ports are used than allowed", given: port(100, 105, 0), ready: fails(quotaExhausted("port", -5))},
		{id: "Q06", name: "the limit is 0", given: port(0, 0, 0), ready: fails(quotaExhausted("port", 0))},

		{id: "A34", name: "what is free of five resources", given: []step{
			quota("port", 100, 10, 0), quota("subnet", 90, 20, 0), quota("network", 80, 30, 0),
			quota("security_group", 70, 40, 0), quota("security_group_rule", 60, 50, 0),
		}, check: series(
			quotaSeries("limit", "port"), "100", quotaSeries("used", "port"), "10",
			quotaSeries("limit", "subnet"), "90", quotaSeries("used", "subnet"), "20",
			quotaSeries("limit", "network"), "80", quotaSeries("used", "network"), "30",
			quotaSeries("limit", "security_group"), "70", quotaSeries("used", "security_group"), "40",
			quotaSeries("limit", "security_group_rule"), "60", quotaSeries("used", "security_group_rule"), "50")},
		{id: "A35", name: "no subnet left", given: []step{quota("subnet", 10, 10, 0)},
			ready: fails(quotaExhausted("subnet", 0)),
			check: series(quotaSeries("limit", "subnet"), "10", quotaSeries("used", "subnet"), "10")},
		{id: "A35", name: "no network left", given: []step{quota("network", 10, 10, 0)},
			ready: fails(quotaExhausted("network", 0))},
		{id: "A35", name: "no security group left", given: []step{quota("security_group", 10, 10, 0)},
			ready: fails(quotaExhausted("security_group", 0))},
		{id: "L08", name: "Neutron refuses a port over the quota", given: port(100, 100, 0),
			ready: fails(quotaExhausted("port", 0))},

		{id: "P01", name: "over the quota is exported as it is", given: port(100, 105, 0),
			ready: fails(quotaExhausted("port", -5)),
			check: series(quotaSeries("limit", "port"), "100", quotaSeries("used", "port"), "105"),
			after: series(quotaSeries("limit", "port"), "100", quotaSeries("used", "port"), "5")},
		{id: "P02", name: "unlimited is a series of its own", given: port(-1, 500, 0), check: series(
			quotaSeries("unlimited", "port"), "1", quotaSeries("used", "port"), "500", quotaSeries("limit", "port"), ""),
			after: series(quotaSeries("unlimited", "port"), "0", quotaSeries("limit", "port"), "100")},
		{id: "P03", name: "metrics while Neutron is down", given: []step{fault("neutron", "refuse")},
			ready: fails(neutronDown), check: series(
				`vitals_dependency_up{dependency="neutron"}`, "0", `vitals_dependency_up{dependency="keystone"}`, "1",
				quotaSeries("used", "port"), "", `vitals_state{state="ready"}`, "0", `vitals_state{state="alive"}`, "1")},
	}
}

func TestKuryrQuota(t *testing.T) {
	t.Parallel()
	startKuryrLab(t, labOptions{}).runCases(t, kuryrQuotaCases())
}

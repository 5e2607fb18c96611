package main

import "testing"

// The lines of failing rules of the CNI daemon's profile.
const (
	netAdminMissing  = "NetAdminMissing failing: NET_ADMIN is not among the effective capabilities."
	netlinkDown      = "NetlinkDown failing: The links of this network namespace cannot be listed by netlink."
	netlinkStuck     = "NetlinkStuck failing: Netlink gave no sound answer three times in a row."
	interfaceMissing = "InterfaceMissing failing: The interface br-int does not exist."
	kuryrPortsDenied = "KubernetesAccessDenied failing: The service account may not watch RESOURCE."
	notAlive         = "not alive"
)

// capabilityLines are the lines of a status with these effective capabilities.
func capabilityLines(effective string) []string {
	return []string{"CapPrm:\t000001ffffffffff\n", "CapEff:\t" + effective + "\n", "CapBnd:\t0000003fffffffff\n", "CapAmb:\t0000000000000000\n"}
}

// withoutNetAdmin is the set of all capabilities but the one with number 12.
const withoutNetAdmin = "000001ffffffefff"

// cniReadinessCases are the scenarios about what the daemon needs to be ready.
func cniReadinessCases() []kuryrCase {
	capability := func(set string) string {
		return `vitals_process_capability{capability="NET_ADMIN",process="net-admin",set="` + set + `"}`
	}
	noNetAdmin := capabilities(capabilityLines(withoutNetAdmin)...)
	return []kuryrCase{
		{id: "N01", name: "everything answers"},
		{id: "N02", name: "NET_ADMIN is missing", given: []step{noNetAdmin}, ready: fails(netAdminMissing),
			check: series(capability("effective"), "0", capability("permitted"), "1")},
		{id: "N03", name: "Kubernetes answers 500", given: []step{fault("kubernetes", "500")}, ready: fails(kubernetesDown)},
		{id: "N03", name: "Kubernetes refuses connections", given: []step{fault("kubernetes", "refuse")}, ready: fails(kubernetesDown)},
		{id: "N03", name: "Kubernetes refuses the credentials", given: []step{fault("kubernetes", "401")}, ready: fails(kubernetesDown)},
		{id: "N03", name: "the daemon's role is missing", given: []step{fault("kubernetes", "deny-access")}, ready: fails(kuryrPortsDenied)},
		{id: "N08", name: "the bounding set has NET_ADMIN", check: series(capability("bounding"), "1", capability("ambient"), "0")},
		{id: "N12", name: "NET_ADMIN is missing and Kubernetes is down",
			given: []step{noNetAdmin, fault("kubernetes", "503")}, ready: fails(kubernetesDown, netAdminMissing)},
		{id: "N13", name: "the kernel does not report the capabilities", given: []step{capabilities()},
			ready: fails("Unmeasured failing: Nothing is known of net-admin."), check: series(
				`vitals_process_failure{process="net-admin",reason="unreadable"}`, "1")},
	}
}

// cniConfigurationCases are those of the files that the daemon's installation leaves.
// The original does not check them.
func cniConfigurationCases() []kuryrCase {
	const (
		config = "cni/net.d/10-kuryr.conflist"
		plugin = "cni/bin/kuryr-cni"
		conf   = "kuryr/kuryr.conf"
	)
	return []kuryrCase{
		{id: "N01", name: "the CNI configuration is gone", given: []step{noFile(config)},
			ready: fails("CNIConfigBroken failing: The CNI configuration is missing.")},
		{id: "N01", name: "the CNI configuration is cut off", given: []step{nodeFile(config, `{"name": "kuryr", "plugins": [`)},
			ready: fails("CNIConfigBroken failing: The CNI configuration cannot be read or parsed, or names no plugin.")},
		{id: "N01", name: "the CNI configuration names no plugin", given: []step{nodeFile(config, `{"name": "kuryr", "plugins": []}`)},
			ready: fails("CNIConfigBroken failing: The CNI configuration cannot be read or parsed, or names no plugin.")},
		{id: "N01", name: "the plugin is gone", given: []step{noFile(plugin)},
			ready: fails("CNIPluginBroken failing: The CNI plugin is missing.")},
		{id: "N01", name: "the plugin may not be executed", given: []step{mode(plugin, 0o644)},
			ready: fails("CNIPluginBroken failing: The CNI plugin is no program that can be executed.")},
		{id: "N01", name: "the plugin was copied by half", given: []step{nodeFile(plugin, "")},
			ready: fails("CNIPluginBroken failing: The CNI plugin is no program that can be executed.")},
		{id: "N01", name: "kuryr.conf is gone", given: []step{noFile(conf)},
			ready: fails("KuryrConfBroken failing: kuryr.conf is missing.")},
		{id: "N01", name: "kuryr.conf makes no sense", given: []step{nodeFile(conf, "[DEFAULT\n")},
			ready: fails("KuryrConfBroken failing: kuryr.conf cannot be read or parsed.")},
	}
}

// cniBridgeCases are those of the bridge that --set interfaces names. In the original
// a binding driver queries it with each request, and its answer latches alive.
func cniBridgeCases() []kuryrCase {
	return []kuryrCase{
		{id: "A40", name: "the bridge is there and up", given: []step{link("br-int", "up")}},
		{id: "A40", name: "the bridge is gone", given: []step{link("br-int", "absent")}, ready: fails(interfaceMissing)},
		{id: "A41", name: "the bridge is down", given: []step{link("br-int", "down")}, ready: warns("InterfaceDown")},
		{id: "A41", name: "the bridge is gone and comes back", given: []step{link("br-int", "absent")}, ready: fails(interfaceMissing),
			after: series(`vitals_netlink_interface_present{component="netlink",interface="br-int",netlink="netlink"}`, "1")},
	}
}

func TestCNIReadiness(t *testing.T) {
	t.Parallel()
	lab := startCNILab(t, labOptions{})
	lab.runCases(t, cniReadinessCases())
	lab.runCases(t, cniConfigurationCases())
	lab.runCases(t, cniBridgeCases())
}

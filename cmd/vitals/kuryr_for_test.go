package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vitals-health/vitals/internal/config"
)

// kuryrRule is the documentation of a shipped rule.
type kuryrRule struct{ State, Severity, For string }

// original is --set original of a Kuryr with its own health server.
func original() map[string]string {
	return map[string]string{"original": "http://127.0.0.1:8082"}
}

// shippedKuryrRules are the rules of the profile, with port pools and Kuryr's own health
// server.
func shippedKuryrRules(t *testing.T) map[string]kuryrRule {
	t.Helper()
	return rulesOf(loadKuryr(t, "[kubernetes]\nvif_pool_driver = neutron\n"+minimalConf, original()))
}

// shippedCNIRules are the rules of the CNI daemon's profile, with a memory limit and
// Kuryr's own health server.
func shippedCNIRules(t *testing.T) map[string]kuryrRule {
	t.Helper()
	return rulesOf(mustLoadCNI(t, "[cni_health_server]\nmax_memory_usage = 1\n", original()))
}

func rulesOf(l *config.Loaded) map[string]kuryrRule {
	rules := map[string]kuryrRule{}
	for _, f := range l.Rules {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" {
					rules[r.Alert] = kuryrRule{r.State, r.Severity, r.For.String()}
				}
			}
		}
	}
	return rules
}

func TestKuryrShippedRules(t *testing.T) {
	const ready, critical = "ready", "critical"
	want := map[string]kuryrRule{
		"KubernetesDown":         {ready, critical, "10s"},
		"KubernetesWatchDown":    {ready, critical, "30s"},
		"KubernetesWatchStale":   {ready, critical, "0s"},
		"KubernetesAccessDenied": {ready, critical, "10s"},
		"CRDMissing":             {ready, critical, "10s"},
		"KeystoneDown":           {ready, critical, "10s"},
		"NeutronDown":            {ready, critical, "10s"},
		"QuotaExhausted":         {ready, critical, "5s"},
		"QuotaLow":               {ready, "warning", "30s"},
		"CRDUnmeasured":          {ready, "warning", "30s"},
		"QuotaUnmeasured":        {ready, "warning", "30s"},
		"ComponentNotReady":      {ready, critical, "0s"},
		"ComponentMissing":       {ready, critical, "30s"},
		"ComponentDead":          {"alive", critical, "10s"},
		"PoolsNotLoaded":         {ready, critical, "0s"},
		"OriginalDead":           {"alive", critical, "25s"},
		"OriginalUnreachable":    {"alive", critical, "5m0s"},
		"OriginalNotReady":       {ready, critical, "15s"},
	}
	if diff := cmp.Diff(want, shippedKuryrRules(t)); diff != "" {
		t.Errorf("shipped rules (-want +got):\n%s", diff)
	}
}

func TestCNIShippedRules(t *testing.T) {
	const ready, alive, critical, warning = "ready", "alive", "critical", "warning"
	want := map[string]kuryrRule{
		"KubernetesDown":           {ready, critical, "15s"},
		"KubernetesAccessDenied":   {ready, critical, "15s"},
		"NetAdminMissing":          {ready, critical, "15s"},
		"DaemonGone":               {ready, critical, "15s"},
		"DescriptorsNearlyUsedUp":  {alive, warning, "1m0s"},
		"CNIConfigBroken":          {ready, critical, "15s"},
		"CNIPluginBroken":          {ready, critical, "15s"},
		"KuryrConfBroken":          {ready, critical, "15s"},
		"NetlinkDown":              {ready, critical, "15s"},
		"NetlinkStuck":             {alive, critical, "25s"},
		"InterfaceMissing":         {ready, critical, "15s"},
		"InterfaceDown":            {ready, warning, "15s"},
		"Unmeasured":               {ready, critical, "25s"},
		"CNIAddFailing":            {alive, critical, "0s"},
		"CNIAddFailingByHistogram": {alive, critical, "0s"},
		"CNIAddExcused":            {ready, warning, "1m0s"},
		"ComponentNotReady":        {ready, critical, "0s"},
		"ComponentMissing":         {ready, critical, "30s"},
		"ComponentDead":            {alive, critical, "10s"},
		"MemoryGrowsToLimit":       {alive, warning, "5m0s"},
		"OutOfMemory":              {ready, warning, "0s"},
		"MemoryPressure":           {ready, warning, "1m0s"},
		"MemoryLimitExceeded":      {alive, critical, "25s"},
		"MemoryUnmeasured":         {alive, warning, "25s"},
		"OriginalDead":             {alive, critical, "25s"},
		"OriginalUnreachable":      {alive, critical, "5m0s"},
		"OriginalNotReady":         {ready, critical, "15s"},
	}
	if diff := cmp.Diff(want, shippedCNIRules(t)); diff != "" {
		t.Errorf("shipped rules (-want +got):\n%s", diff)
	}
}

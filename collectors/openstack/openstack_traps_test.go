package openstack

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The traps of gophercloud v2.15.0 that the collectors avoid, one test for each.

func TestTrapServiceClientsDiscoverVersionsWithoutAContext(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, nil)
	osRecovers(t, n, "neutron")
	if diff := cmp.Diff([]string{osQuotaCall}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls of a round (-want +got):\n%s", diff)
	}
	cloud.set(func(c *osCloud) { c.atNeutron = c.hangs })
	osFault{want: remote.ReasonTimeout, says: "deadline exceeded", within: 200 * time.Millisecond}.check(t, n, "neutron")
}

func TestTrapClientWithoutATimeout(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(nil)
	if got := k.session.login.client.Timeout; got != requestTimeout {
		t.Errorf("timeout of the client = %s, want %s", got, requestTimeout)
	}
	cloud.set(func(c *osCloud) { c.atKeystone = c.hangs })
	k.session.login.client.Timeout = 100 * time.Millisecond
	samples, err := k.Collect(context.WithoutCancel(t.Context()))
	if got := osReason(t, osSeries(samples), "keystone"); got != remote.ReasonTimeout {
		t.Errorf("reason under a context without a deadline = %q (%v), want %q", got, err, remote.ReasonTimeout)
	}
}

func TestTrapTransportIsReplacedByACloneOfTheDefault(t *testing.T) {
	cloud := osNewCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Insecure = true })
	transport := k.session.login.client.Transport.(*transport).next
	if transport == http.DefaultTransport || !transport.TLSClientConfig.InsecureSkipVerify {
		t.Error("the transport is not one of its own with the TLS settings of the configuration")
	}
	if transport.Protocols.HTTP2() || transport.ForceAttemptHTTP2 {
		t.Error("HTTP/2 is on, want HTTP/1.1 only: a frozen connection would be used again")
	}
}

func TestTrapErrorsByValueAndByPointer(t *testing.T) {
	cloud := osNewCloud(t)
	cloud.endpoints = "[]" // gophercloud's error comes by pointer.
	n := cloud.newNeutron(nil, nil)
	osFault{want: remote.ReasonMissingEndpoint, says: "No suitable endpoint"}.check(t, n, "neutron")
	cloud.set(func(c *osCloud) { c.password = "changed" }) // Here it comes by value.
	k := cloud.newKeystone(nil)
	osFault{want: remote.ReasonAuth, says: "401"}.check(t, k, "keystone")
}

func TestTrapPagersFollowNextLinks(t *testing.T) {
	cloud := osNewCloud(t)
	cloud.atNeutron = func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "quotas") {
			osAnswer(w, http.StatusNotFound, "application/json", osFixture(t, "neutron_404.json"))
			return
		}
		cloud.answerNeutron(w, r) // With a link to the next page.
	}
	osRecovers(t, cloud.newNeutron(nil, nil), "neutron")
	if calls := cloud.neutronCalls(); len(calls) != 2 {
		t.Errorf("calls = %v, want the quota and one list", calls)
	}
}

func TestTrapEnvironmentWithADomainForTheUserAndOneForTheProject(t *testing.T) {
	cloud := osNewCloud(t)
	osEnvironment(t, map[string]string{
		"OS_AUTH_URL": cloud.keystone.URL, "OS_USERNAME": "healthcheck", "OS_PASSWORD": osPassword, "OS_USER_DOMAIN_NAME": "Users",
		"OS_PROJECT_NAME": "health", "OS_PROJECT_DOMAIN_NAME": "Projects",
	})
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Auth = Auth{}.withDefaults() })
	options := k.session.login.options
	if options.DomainName != "Users" || options.Scope.DomainName != "Projects" {
		t.Errorf("domains = %q and %q, want Users and Projects", options.DomainName, options.Scope.DomainName)
	}
	osRecovers(t, k, "keystone")
}

func TestTrapReauthenticationIsOffByDefault(t *testing.T) {
	cloud := osNewCloud(t)
	n := cloud.newNeutron(nil, nil)
	osRecovers(t, n, "neutron")
	if provider := n.own.held().provider(); provider.ReauthFunc != nil || n.own.login.options.AllowReauth {
		t.Error("gophercloud re-authenticates by itself, want the session to do it")
	}
	cloud.revoke()
	osRecovers(t, n, "neutron")
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens, want 2", issued)
	}
}

func TestTrapEmptyCloudName(t *testing.T) {
	osEnvironment(t, map[string]string{"OS_CLIENT_CONFIG_FILE": "testdata/token.json"})
	for want, config := range map[string]Auth{
		"no credentials: expected the key cloud or auth_url": {},
		"no cloud named: expected the key cloud":             {CloudsFile: "testdata/token.json"},
	} {
		_, err := (&KeystoneConfig{Auth: config.withDefaults()}).New(collectors.Env{Name: "keystone"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want an error that says %q", err, want)
		}
	}
}

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

// These tests hold the workarounds for defects of gophercloud v2.15.0, one test for each.

func TestGophercloudServiceClientsDiscoverVersionsWithoutAContext(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, nil)
	wantUp(t, n, "neutron")
	if diff := cmp.Diff([]string{quotaCall}, cloud.neutronCalls()); diff != "" {
		t.Errorf("calls of a collection (-want +got):\n%s", diff)
	}
	cloud.set(func(c *fakeCloud) { c.atNeutron = c.hangs })
	faultCase{want: remote.ReasonTimeout, text: "deadline exceeded", within: 200 * time.Millisecond}.check(t, n, "neutron")
}

func TestGophercloudClientWithoutATimeout(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(nil)
	if got := k.session.login.client.Timeout; got != requestTimeout {
		t.Errorf("timeout of the client = %s, want %s", got, requestTimeout)
	}
	cloud.set(func(c *fakeCloud) { c.atKeystone = c.hangs })
	k.session.login.client.Timeout = 100 * time.Millisecond
	samples, err := k.Collect(context.WithoutCancel(t.Context()))
	if got := downReason(t, bySeries(samples), "keystone"); got != remote.ReasonTimeout {
		t.Errorf("reason under a context without a deadline = %q (%v), want %q", got, err, remote.ReasonTimeout)
	}
}

func TestGophercloudTransportIsReplacedByACloneOfTheDefault(t *testing.T) {
	cloud := newFakeCloud(t)
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Insecure = true })
	transport := k.session.login.client.Transport.(*transport).next
	if transport == http.DefaultTransport || !transport.TLSClientConfig.InsecureSkipVerify {
		t.Error("the transport is shared or lacks the TLS settings of the configuration")
	}
	if transport.Protocols.HTTP2() || transport.ForceAttemptHTTP2 {
		t.Error("HTTP/2 is on, want HTTP/1.1 only: a frozen connection would be used again")
	}
}

func TestGophercloudErrorsByValueAndByPointer(t *testing.T) {
	cloud := newFakeCloud(t)
	cloud.endpoints = "[]" // gophercloud returns this error by pointer
	n := cloud.newNeutron(nil, nil)
	faultCase{want: remote.ReasonMissingEndpoint, text: "No suitable endpoint"}.check(t, n, "neutron")
	cloud.set(func(c *fakeCloud) { c.password = "changed" }) // and this one by value
	k := cloud.newKeystone(nil)
	faultCase{want: remote.ReasonAuth, text: "401"}.check(t, k, "keystone")
}

func TestGophercloudPagersFollowNextLinks(t *testing.T) {
	cloud := newFakeCloud(t)
	cloud.atNeutron = func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "quotas") {
			respond(w, http.StatusNotFound, "application/json", readFixture(t, "neutron_404.json"))
			return
		}
		cloud.respondNeutron(w, r) // with a link to the next page
	}
	wantUp(t, cloud.newNeutron(nil, nil), "neutron")
	if calls := cloud.neutronCalls(); len(calls) != 2 {
		t.Errorf("calls = %v, want the quota and one list", calls)
	}
}

func TestGophercloudEnvironmentWithADomainForTheUserAndOneForTheProject(t *testing.T) {
	cloud := newFakeCloud(t)
	setEnvironment(t, map[string]string{
		"OS_AUTH_URL": cloud.keystone.URL, "OS_USERNAME": "healthcheck", "OS_PASSWORD": testPassword, "OS_USER_DOMAIN_NAME": "Users",
		"OS_PROJECT_NAME": "health", "OS_PROJECT_DOMAIN_NAME": "Projects",
	})
	k := cloud.newKeystone(func(c *KeystoneConfig) { c.Auth = Auth{}.withDefaults() })
	options := k.session.login.options
	if options.DomainName != "Users" || options.Scope.DomainName != "Projects" {
		t.Errorf("domains = %q and %q, want Users and Projects", options.DomainName, options.Scope.DomainName)
	}
	wantUp(t, k, "keystone")
}

func TestGophercloudReauthenticationIsOffByDefault(t *testing.T) {
	cloud := newFakeCloud(t)
	n := cloud.newNeutron(nil, nil)
	wantUp(t, n, "neutron")
	if provider := n.own.held().provider(); provider.ReauthFunc != nil || n.own.login.options.AllowReauth {
		t.Error("gophercloud re-authenticates, want the session to do it")
	}
	cloud.revoke()
	wantUp(t, n, "neutron")
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens, want 2", issued)
	}
}

func TestGophercloudEmptyCloudName(t *testing.T) {
	setEnvironment(t, map[string]string{"OS_CLIENT_CONFIG_FILE": "testdata/token.json"})
	for want, config := range map[string]Auth{
		"no credentials: expected the key cloud or auth_url": {},
		"no cloud named: expected the key cloud":             {CloudsFile: "testdata/token.json"},
	} {
		_, err := (&KeystoneConfig{Auth: config.withDefaults()}).New(collectors.Env{Name: "keystone"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want an error with %q", err, want)
		}
	}
}

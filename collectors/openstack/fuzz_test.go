package openstack

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// FuzzClouds reads clouds.yaml and secure.yaml: an error quotes nothing of them.
func FuzzClouds(f *testing.F) {
	const clouds = "clouds:\n  mine:\n    auth: {auth_url: 'http://k:5000', username: u, user_domain_name: d}\n    region_name: r\n    interface: public\n"
	f.Add(clouds, "clouds: {mine: {auth: {password: "+testPassword+"}}}\n")
	f.Add("clouds: {mine: "+testPassword+"}", "")
	f.Add("clouds: {mine: {}}", "clouds: [")
	f.Add("clouds:\n  mine: {auth: {auth_url: http://k, password: "+testPassword+", application_credential_id: a}, verify: x}\n", "\xff")
	dir := f.TempDir()
	file := filepath.Join(dir, "clouds.yaml")
	f.Fuzz(func(t *testing.T, clouds, secure string) {
		if strings.Contains(clouds+secure, "/dev/") { // the file names files of certificates
			return
		}
		for name, text := range map[string]string{file: clouds, filepath.Join(dir, "secure.yaml"): secure} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := &source{auth: Auth{Cloud: "mine", CloudsFile: file}, getenv: func(string) string { return "" }, dial: dialTCP, hide: func(...string) {}}
		login, err := s.load()
		if (login == nil) != (err != nil) {
			t.Fatalf("load() = %v, %v, want one of them", login, err)
		}
		if err != nil && strings.Contains(err.Error(), testPassword) {
			t.Errorf("load() = %v, want no password", err)
		}
	})
}

// FuzzErrorBody describes what a service returned instead of an answer.
func FuzzErrorBody(f *testing.F) {
	for _, body := range []string{
		`{"error":{"code":401,"message":"The request you have made requires authentication."}}`, `{"NeutronError":{"type":"PolicyNotAuthorized","message":"no"}}`,
		`{"NeutronError":"no"}`, `{"message":"down"}`, "<html>", `{"error":{"message":"\u0000` + testPassword + `"}}`, `{"error":[]}`, "",
	} {
		f.Add(503, []byte(body), "req-1")
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, id string) {
		given := gophercloud.ErrUnexpectedResponseCode{Actual: status, Body: body, ResponseHeader: http.Header{"X-Openstack-Request-Id": {id}}}
		err := newError("get http://k/v3", given, testPassword)
		text := err.Error()
		if len(text) > errorLimit || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("error %q, want one line of at most %d bytes", text, errorLimit)
		}
		if strings.Contains(text, testPassword) {
			t.Errorf("error %q, want no secret", text)
		}
		if reason := remote.ReasonOf(err); !slices.Contains(remote.Reasons(), reason) && (status < 200 || status > 399) {
			t.Errorf("status %d has the reason %q, want one of the closed set", status, reason)
		}
	})
}

// FuzzToken reads a token and the catalog in it.
func FuzzToken(f *testing.F) {
	for _, body := range []string{
		`{"token":{"issued_at":"2026-01-02T12:00:00.000000Z","expires_at":"2026-01-02T13:00:00.000000Z","project":{"id":"p"},"catalog":[{"type":"network","name":"neutron","endpoints":[{"interface":"public","region":"r","region_id":"r","url":"http://n:9696/"}]}]}}`,
		`{"token":{"expires_at":"0001-01-01T00:00:00Z"}}`, `{"token":{"expires_at":"9999-12-31T23:59:59Z","issued_at":"0001-01-02T00:00:00Z"}}`, `{"token":null}`, `{"token":{"expires_at":"x"}}`,
		`{"token":{"expires_at":"2026-01-02T13:00:00Z","catalog":[{"type":"network","endpoints":[{"interface":"public","url":""},{"interface":"public","url":"%zz"}]}]}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var response tokenResponse
		if json.Unmarshal(body, &response) != nil {
			return
		}
		now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
		token := &token{id: "t", login: &login{client: http.DefaultClient, side: gophercloud.AvailabilityPublic}, issued: response.Token.IssuedAt, since: now}
		if err := token.update(response); err != nil {
			if !token.expires.IsZero() {
				t.Errorf("update() = %v of an expiry %s", err, token.expires)
			}
			return
		}
		if token.bornExpired() && (token.expired(now) || token.expiresSoon(now)) {
			t.Error("a token that was born expired is replaced at once, for ever")
		}
		if token.expired(now) && !token.expiresSoon(now) {
			t.Errorf("a token until %s has expired and does not expire soon", token.until)
		}
		offline, cancel := context.WithCancel(t.Context())
		cancel() // an address in the catalog is not looked up
		if url, err := token.endpoint(offline, "network", "", ""); err == nil && (url == "" || url == "/") {
			t.Errorf("endpoint() = %q, want an address or an error", url)
		}
	})
}

// FuzzNeutronResponses reads the answers of Neutron.
func FuzzNeutronResponses(f *testing.F) {
	for _, body := range []string{
		`{"quota":{"port":{"limit":500,"used":499,"reserved":"0"},"network":{"limit":-1,"used":null,"reserved":0}}}`, `{"quota":{"port":{"limit":"9223372036854775808"}}}`,
		`{"networks":[]}`, `{"extensions":[{"alias":"quota_details"}]}`, `{"agents":[{"agent_type":"Open vSwitch agent","alive":true},{"agent_type":"DHCP agent"}],"agents_links":[{"rel":"next"}]}`,
		`{"quota":{"port":{"limit":"\"1\"","used":-5}}}`, "null", "[]",
		`{"subnets":[{"id":"s","allocation_pools":[{"start":"10.0.0.2","end":"10.0.0.9"},{"start":"fd00::1","end":"fd00::ff"}]}]}`, `{"ports":[{"fixed_ips":[{"subnet_id":"s","ip_address":"10.0.0.3"}]}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, response := range []validated{&neutronQuotas{}, &neutronNetworks{}, &neutronExtensions{}, &neutronAgents{}, &neutronSubnets{}, &neutronPorts{}} {
			if json.Unmarshal(body, response) != nil || response.validate() != nil {
				continue
			}
			switch r := response.(type) {
			case *neutronQuotas:
				var b collectors.Batch
				addNeutronQuotas(&b, "neutron", neutronResources(), r.Quota)
				for _, s := range b.Samples {
					if s.Value < 0 || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
						t.Errorf("%s = %v, want a number from 0", s.Labels, s.Value)
					}
				}
			case *neutronAgents:
				for _, a := range r.Agents {
					if all, alive := r.count(a.Type); all < 1 || all > len(r.Agents) || alive > all {
						t.Errorf("count(%q) = %d, %d of %d agents", a.Type, all, alive, len(r.Agents))
					}
				}
			case *neutronSubnets:
				for _, s := range r.Subnets {
					if size := s.size(); size < float64(len(s.Pools)) || math.IsInf(size, 0) {
						t.Errorf("size() = %v of %d pools", size, len(s.Pools))
					}
				}
			case *neutronPorts:
				if used := r.used(neutronSubnet{ID: "s"}); used != 0 {
					t.Errorf("used() = %d of a subnet without a pool", used)
				}
			case *neutronExtensions:
				for _, e := range r.Extensions {
					if !r.has(e.Alias) {
						t.Errorf("has(%q) = false, want true", e.Alias)
					}
				}
			}
		}
	})
}

package openstack

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// auth returns valid credentials.
func (c *fakeCloud) auth() Auth {
	return Auth{
		AuthURL: c.keystone.URL + "/v3", Username: "healthcheck", UserDomainName: "Default", Password: testPassword,
		ProjectName: "health", ProjectDomainName: "Default", Region: "RegionOne", Reauthenticate: model.Duration(5 * time.Minute),
	}
}

// newKeystone returns a keystone collector with the cloud's clock.
func (c *fakeCloud) newKeystone(change func(*KeystoneConfig)) *keystone {
	c.t.Helper()
	config := &KeystoneConfig{Auth: c.auth()}
	if change != nil {
		change(config)
	}
	if problems := config.Problems(); len(problems) > 0 {
		c.t.Fatalf("Problems() = %v, want none", problems)
	}
	made, err := config.New(collectors.Env{Name: "keystone", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		c.t.Fatal(err)
	}
	k := made.(*keystone)
	c.adopt(k.session)
	c.run(k)
	return k
}

// newNeutron returns a neutron collector that shares the token of peer. Without a peer, it logs
// in.
func (c *fakeCloud) newNeutron(peer collectors.Collector, change func(*NeutronConfig)) *neutron {
	c.t.Helper()
	config := &NeutronConfig{Keystone: "keystone"}
	config.SetDefaults()
	if peer == nil {
		config = &NeutronConfig{Auth: c.auth()}
	}
	if change != nil {
		change(config)
	}
	if problems := config.Problems(); len(problems) > 0 {
		c.t.Fatalf("Problems() = %v, want none", problems)
	}
	made, err := config.New(collectors.Env{Name: "neutron", Peer: func(string) collectors.Collector { return peer }})
	if err != nil {
		c.t.Fatal(err)
	}
	n := made.(*neutron)
	if n.own != nil {
		c.adopt(n.own)
	}
	c.run(n)
	return n
}

func (c *fakeCloud) adopt(s *session) { s.now = c.now }

// run calls Run until the end of the test and waits for it to return.
func (c *fakeCloud) run(r collectors.Runner) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx, func() {})
	}()
	c.t.Cleanup(func() {
		cancel()
		<-done
	})
}

// collect runs one collection with a timeout of 10 s.
func collect(t *testing.T, c collectors.Collector) (map[string]float64, error) {
	t.Helper()
	return collectWithin(t, c, 10*time.Second)
}

// collectWithin runs one collection and returns the samples by series. It fails the test if the
// collection exceeds its deadline or reveals a secret.
func collectWithin(t *testing.T, c collectors.Collector, d time.Duration) (map[string]float64, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	start := time.Now()
	samples, err := c.Collect(ctx)
	if took := time.Since(start); took > d+10*time.Second {
		t.Errorf("Collect() took %s, want at most its deadline, %s", took, d)
	}
	wantNoSecrets(t, "collector", fmt.Sprintf("%v %+v %#v %v", c, c, c, samples))
	if err != nil {
		wantNoSecrets(t, "error", fmt.Sprintf("%v %+v %#v", err, err, err))
		for line := range strings.Lines(err.Error()) {
			if len(line) > errorLimit+200 {
				t.Errorf("error of %d bytes: %s", len(line), line)
			}
		}
	}
	return bySeries(samples), err
}

func bySeries(samples []collectors.Sample) map[string]float64 {
	series := make(map[string]float64, len(samples))
	for _, s := range samples {
		line := collectortest.Sample(s)
		series[line[:strings.LastIndex(line, " ")]] = s.Value
	}
	return series
}

// wantNoSecrets fails the test if text contains a password or a token.
func wantNoSecrets(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{testPassword, "gAAAAAB"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s contains the secret %q: %s", what, secret, text)
		}
	}
}

// downReason returns the reason why a dependency is down, or "". It fails the test unless exactly
// one of up and the reasons is 1.
func downReason(t *testing.T, series map[string]float64, dependency string) remote.Reason {
	t.Helper()
	up, ok := series[fmt.Sprintf("vitals_dependency_up{dependency=%q}", dependency)]
	if !ok {
		t.Fatalf("vitals_dependency_up is not exported")
	}
	var found []remote.Reason
	for _, r := range remote.Reasons() {
		if series[fmt.Sprintf("vitals_dependency_failure{dependency=%q,reason=%q}", dependency, r)] == 1 {
			found = append(found, r)
		}
	}
	if up == 1 && len(found) == 0 {
		return ""
	}
	if up != 0 || len(found) != 1 {
		t.Fatalf("vitals_dependency_up = %v with the reasons %v, want one reason if and only if it is 0", up, found)
	}
	return found[0]
}

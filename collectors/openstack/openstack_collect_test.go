package openstack

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// auth returns credentials that the cloud accepts.
func (c *osCloud) auth() Auth {
	return Auth{
		AuthURL: c.keystone.URL + "/v3", Username: "healthcheck", UserDomainName: "Default", Password: osPassword,
		ProjectName: "health", ProjectDomainName: "Default", Region: "RegionOne", Reauthenticate: model.Duration(5 * time.Minute),
	}
}

// newKeystone makes a keystone collector by the cloud's clock.
func (c *osCloud) newKeystone(change func(*KeystoneConfig)) *keystone {
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

// newNeutron makes a neutron collector that shares the token of peer, or logs in by
// itself if there is none.
func (c *osCloud) newNeutron(peer collectors.Collector, change func(*NeutronConfig)) *neutron {
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

func (c *osCloud) adopt(s *session) { s.now = c.now }

// run runs a collector's Run until the test ends, and waits for it.
func (c *osCloud) run(r collectors.Runner) {
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

// osCollect runs one round with a deadline that a healthy round never reaches.
func osCollect(t *testing.T, c collectors.Collector) (map[string]float64, error) {
	t.Helper()
	return osCollectWithin(t, c, 10*time.Second)
}

// osCollectWithin runs one round and returns the samples by series. It fails the
// test if the round outlives its deadline or shows a secret.
func osCollectWithin(t *testing.T, c collectors.Collector, d time.Duration) (map[string]float64, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	start := time.Now()
	samples, err := c.Collect(ctx)
	if took := time.Since(start); took > d+10*time.Second {
		t.Errorf("Collect() took %s, want at most its deadline, %s", took, d)
	}
	osNoSecrets(t, "collector", fmt.Sprintf("%v %+v %#v %v", c, c, c, samples))
	if err != nil {
		osNoSecrets(t, "error", fmt.Sprintf("%v %+v %#v", err, err, err))
		for line := range strings.Lines(err.Error()) {
			if len(line) > errorLimit+200 {
				t.Errorf("error of %d bytes: %s", len(line), line)
			}
		}
	}
	return osSeries(samples), err
}

func osSeries(samples []collectors.Sample) map[string]float64 {
	series := make(map[string]float64, len(samples))
	for _, s := range samples {
		series[osKey(s.Labels)] = s.Value
	}
	return series
}

// osKey writes a series as name{a="b"}.
func osKey(l labels.Labels) string {
	var b bytes.Buffer
	l.Range(func(label labels.Label) {
		if label.Name != model.MetricNameLabel {
			fmt.Fprintf(&b, ",%s=%q", label.Name, label.Value)
		}
	})
	return l.Get(model.MetricNameLabel) + "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

// osNoSecrets fails the test if text holds a password or a token.
func osNoSecrets(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{osPassword, "gAAAAAB"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the secret %q: %s", what, secret, text)
		}
	}
}

// osReason returns why a dependency is down, or "" if it is up; exactly one of up
// and the reasons must say so.
func osReason(t *testing.T, series map[string]float64, dependency string) remote.Reason {
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

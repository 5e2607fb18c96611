package openstack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// KeystoneConfig is the configuration of the kind keystone. It measures whether Keystone
// authenticates, without a new token in each collection.
type KeystoneConfig struct {
	Auth `yaml:",inline"`
	// Endpoints are service types, such as network. Their presence in the catalog is exported.
	Endpoints []string `yaml:"endpoints,omitempty"`
}

// Problems implements collectors.Kind.
func (c *KeystoneConfig) Problems() []collectors.Problem {
	return append(c.problems(), listProblems("endpoints", c.Endpoints, serviceType, "a service type such as network")...)
}

// New reads the credentials and creates the collector. It does not use the network.
func (c *KeystoneConfig) New(env collectors.Env) (collectors.Collector, error) {
	session, err := newSession(c.Auth, env.Hide)
	if err != nil {
		return nil, fmt.Errorf("keystone: %w", err)
	}
	return &keystone{name: env.Name, endpoints: slices.Clone(c.Endpoints), session: session}, nil
}

// External implements collectors.Kind.
func (c *KeystoneConfig) External() bool { return true }

// Uses implements collectors.Kind.
func (c *KeystoneConfig) Uses() []string { return nil }

// keystone is the collector of the kind keystone.
type keystone struct {
	name      string
	endpoints []string
	session   *session
}

// Collect validates the token of an earlier authentication, or authenticates.
func (k *keystone) Collect(ctx context.Context) ([]collectors.Sample, error) {
	var expires time.Time
	token, took, err := k.session.check(withExpiry(ctx, &expires))
	var b collectors.Batch
	remote.AddDependency(&b, k.name, took, reasonOf(err))
	addExpiry(&b, k.name, expires)
	issued, reloadErr := k.session.count()
	b.Set(keystoneTokensIssuedMetric, float64(issued), k.name)
	if held := k.session.held(); held != nil {
		addToken(&b, k.name, held)
	}
	if err == nil {
		for _, service := range k.endpoints {
			_, missing := token.endpoint(ctx, service, "", "")
			b.Set(keystoneEndpointPresentMetric, collectors.Number(missing == nil), k.name, service)
		}
	}
	return b.Samples, errors.Join(err, reloadErr)
}

// addToken appends the expiry of a token, and its time of issue if the response had it.
func addToken(b *collectors.Batch, name string, t *token) {
	b.Set(keystoneTokenExpiryMetric, collectors.EpochSeconds(t.expires), name)
	if !t.issued.IsZero() {
		b.Set(keystoneTokenIssuedMetric, collectors.EpochSeconds(t.issued), name)
	}
}

// Describe implements collectors.Collector.
func (k *keystone) Describe() []collectors.Desc { return collectors.Describe(keystoneDefs()) }

// Run implements collectors.Runner. It closes the idle connections when ctx ends.
func (k *keystone) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	k.session.close()
}

var serviceType = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$`)

// listProblems checks a list of label values: each must match the pattern, and none may occur
// twice.
func listProblems(key string, list []string, pattern *regexp.Regexp, expected string) []collectors.Problem {
	var problems []collectors.Problem
	for i, entry := range list {
		path := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case !pattern.MatchString(entry):
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("%s %q: expected %s", key, entry, expected)})
		case slices.Index(list, entry) < i:
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("%s %q: expected it once", key, entry)})
		}
	}
	return problems
}

package openstack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// KeystoneConfig is the configuration of the kind keystone, which proves that
// Keystone authenticates, without asking for a token in each round.
type KeystoneConfig struct {
	Auth `yaml:",inline"`
	// Endpoints are the service types, such as network, whose presence in the
	// catalog is exported.
	Endpoints []string `yaml:"endpoints,omitempty"`
}

// Problems returns every mistake that can be seen without any I/O.
func (c *KeystoneConfig) Problems() []collectors.Problem {
	return append(c.problems(), listProblems("endpoints", c.Endpoints, serviceType, "a service type such as network")...)
}

// New reads the credentials and makes the collector. It talks to nobody.
func (c *KeystoneConfig) New(env collectors.Env) (collectors.Collector, error) {
	session, err := newOpenStackSession(c.Auth)
	if err != nil {
		return nil, fmt.Errorf("keystone: %w", err)
	}
	return &keystone{name: env.Name, endpoints: slices.Clone(c.Endpoints), session: session}, nil
}

// External says that a restart of the workload cannot cure Keystone.
func (c *KeystoneConfig) External() bool { return true }

// Uses returns nothing: a keystone collector logs in by itself.
func (c *KeystoneConfig) Uses() []string { return nil }

// openStackShared is a collector whose token others may use.
type openStackShared interface {
	openStackSession() *session
}

type keystone struct {
	name      string
	endpoints []string
	session   *session
}

func (k *keystone) openStackSession() *session { return k.session }

// Collect authenticates, or validates the token of an earlier authentication.
func (k *keystone) Collect(ctx context.Context) ([]collectors.Sample, error) {
	token, took, err := k.session.check(ctx)
	var b collectors.Batch
	remote.AddDependency(&b, k.name, took, reasonOf(err))
	issued, unread := k.session.count()
	b.Set(keystoneTokensIssuedMetric, float64(issued), k.name)
	if held := k.session.held(); held != nil {
		addOpenStackToken(&b, k.name, held)
	}
	if err == nil {
		for _, service := range k.endpoints {
			_, missing := token.endpoint(ctx, service, "", "")
			b.Set(keystoneEndpointPresentMetric, collectors.Number(missing == nil), k.name, service)
		}
	}
	return b.Samples, errors.Join(err, unread)
}

// addOpenStackToken appends what is known of a token's life. A time that Keystone did not tell
// is left out.
func addOpenStackToken(b *collectors.Batch, name string, t *token) {
	b.Set(keystoneTokenExpiryMetric, float64(t.expires.UnixMilli())/1e3, name)
	if !t.issued.IsZero() {
		b.Set(keystoneTokenIssuedMetric, float64(t.issued.UnixMilli())/1e3, name)
	}
}

// Describe lists the metrics that Collect exports.
func (k *keystone) Describe() []collectors.Desc { return collectors.Describe(keystoneDefs()) }

// Run closes the connections that are kept between rounds when ctx ends.
func (k *keystone) Run(ctx context.Context, _ func()) {
	<-ctx.Done()
	k.session.close()
}

var serviceType = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$`)

// listProblems checks a list whose entries become the values of a label: each
// matches the pattern, and none comes twice.
func listProblems(key string, list []string, pattern *regexp.Regexp, expected string) []collectors.Problem {
	var problems []collectors.Problem
	for i, entry := range list {
		path := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case !pattern.MatchString(entry):
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("%s %q: expected %s", key, entry, expected)})
		case slices.Index(list, entry) < i:
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("%s %q: expected each one only once", key, entry)})
		}
	}
	return problems
}

// Package fakes imitates the three services that a Kuryr controller depends on,
// the Kubernetes API, Keystone and Neutron, closely enough for health checks:
// real HTTP on loopback (with TLS for the Kubernetes API), the real shapes of
// answers and errors, and faults that are switched while it runs. The demo and the
// tests use it; it is no simulator of what the services do.
package fakes

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Options adjust a Cloud. The zero value is what the demo uses.
type Options struct {
	// Logger is told about every change of a fault; nil discards.
	Logger *slog.Logger
	// Slow is how long the fault "slow" delays an answer; 2 s where it is zero.
	Slow time.Duration
	// BookmarkInterval is the time between two BOOKMARK events of a watch that
	// asked for them; 10 s where it is zero (a real API server: about a minute).
	BookmarkInterval time.Duration
	// EventInterval is the time between two synthetic changes of the objects in
	// the Kubernetes API; 5 s where it is zero.
	EventInterval time.Duration
	// TokenLifetime is how long a Keystone token is valid; 1 h where it is zero,
	// as Keystone has it by default.
	TokenLifetime time.Duration
}

// The identity that the stand-in of Keystone knows.
const (
	username   = "kuryr"
	userID     = "3f1b0c5e6a7d4c0f9e2b8a1d5c4e7f60"
	project    = "k8s"
	projectID  = "9d2c4b6a8f0e4d1c8b7a6f5e4d3c2b1a"
	domainID   = "default"
	domainName = "Default"
	region     = "RegionOne"
)

// Cloud is the three stand-ins. Its methods are safe for concurrent use.
type Cloud struct {
	kubernetes *kubernetes
	keystone   *keystone
	neutron    *neutron
	password   string
	token      string
	authority  []byte

	stop  context.CancelFunc
	alive sync.WaitGroup
}

// Start runs the three stand-ins on ports of 127.0.0.1 that are free, until Close.
func Start(opts Options) (*Cloud, error) {
	opts = opts.withDefaults()
	secure, authority, err := certify(time.Now())
	if err != nil {
		return nil, fmt.Errorf("start stand-in kubernetes: %w", err)
	}
	c := &Cloud{password: rand.Text(), token: rand.Text(), authority: authority}
	neutron := newService("neutron", opts)
	c.kubernetes = newKubernetes(newService("kubernetes", opts), c.token, opts.BookmarkInterval)
	c.kubernetes.service.secure = secure
	c.keystone = newKeystone(newService("keystone", opts), neutron.url, c.password, opts.TokenLifetime)
	c.neutron = newNeutron(neutron, c.keystone)
	for _, step := range []func(*service) error{(*service).choose, (*service).start} {
		for _, s := range c.services() {
			if err := step(s); err != nil {
				return nil, errors.Join(fmt.Errorf("start stand-in %s: %w", s.name, err), c.closeServices())
			}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.alive.Go(func() { c.kubernetes.cluster.live(ctx, opts.EventInterval) })
	return c, nil
}

// Close ends the stand-ins with all their connections and waits for the last
// goroutine. A second call does nothing.
func (c *Cloud) Close() error {
	c.stop()
	err := c.closeServices()
	c.alive.Wait()
	return err
}

// KubernetesURL is the root of the Kubernetes API, with TLS and without a slash at
// its end.
func (c *Cloud) KubernetesURL() string { return c.kubernetes.service.url() }

// KeystoneURL is the auth_url, which ends in /v3.
func (c *Cloud) KeystoneURL() string { return c.keystone.service.url() + "/v3" }

// NeutronURL is the endpoint as the catalog has it: without a version.
func (c *Cloud) NeutronURL() string { return c.neutron.service.url() }

// Username is the user that Keystone accepts, of the domain that Domain names.
func (c *Cloud) Username() string { return username }

// Password is the user's password, made anew at every start.
func (c *Cloud) Password() string { return c.password }

// Project is the name of the project that a token may be scoped to.
func (c *Cloud) Project() string { return project }

// ProjectID is the identifier of that project, as quotas are asked for.
func (c *Cloud) ProjectID() string { return projectID }

// Domain is the name of the domain of both the user and the project.
func (c *Cloud) Domain() string { return domainName }

// Region is the only region in the catalog.
func (c *Cloud) Region() string { return region }

// Token is the bearer token that the Kubernetes API accepts, made anew at every start.
func (c *Cloud) Token() string { return c.token }

// Authority is the certificate, in PEM, that vouches for the Kubernetes API.
func (c *Cloud) Authority() []byte { return slices.Clone(c.authority) }

// Kubeconfig is a kubeconfig file for the Kubernetes API, token included.
func (c *Cloud) Kubeconfig() []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: fakes, cluster: {server: %q, certificate-authority-data: %q}}]
users: [{name: fakes, user: {token: %q}}]
contexts: [{name: fakes, context: {cluster: fakes, user: fakes}}]
current-context: fakes
`, c.KubernetesURL(), base64.StdEncoding.EncodeToString(c.authority), c.token)
}

func (c *Cloud) services() []*service {
	return []*service{c.kubernetes.service, c.keystone.service, c.neutron.service}
}

func (c *Cloud) closeServices() error {
	var errs []error
	for _, s := range c.services() {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		value *time.Duration
		def   time.Duration
	}{
		{&o.Slow, 2 * time.Second},
		{&o.BookmarkInterval, 10 * time.Second},
		{&o.EventInterval, 5 * time.Second},
		{&o.TokenLifetime, time.Hour},
	} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
	return o
}

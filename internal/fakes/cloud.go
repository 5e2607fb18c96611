// Package fakes imitates the services that a Kuryr controller depends on: the
// Kubernetes API, Keystone and Neutron. The fakes are for health checks only. They serve
// HTTP on loopback (HTTPS for the Kubernetes API), with the real format of responses
// and errors, and with faults that can be switched at run time.
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

// Options configure a Cloud. The zero value is valid.
type Options struct {
	// Logger logs every change of a fault; nil discards.
	Logger *slog.Logger
	// Slow is the delay of responses under the fault "slow"; zero is 2 s.
	Slow time.Duration
	// BookmarkInterval is the time between two BOOKMARK events of a watch that
	// requests them; zero is 10 s (a real API server: about a minute).
	BookmarkInterval time.Duration
	// EventInterval is the time between two synthetic changes of the objects in
	// the Kubernetes API; zero is 5 s.
	EventInterval time.Duration
	// TokenLifetime is how long a Keystone token is valid; zero is 1 h, Keystone's
	// default.
	TokenLifetime time.Duration
}

// The only identity in the fake Keystone.
const (
	username   = "kuryr"
	userID     = "3f1b0c5e6a7d4c0f9e2b8a1d5c4e7f60"
	project    = "k8s"
	projectID  = "9d2c4b6a8f0e4d1c8b7a6f5e4d3c2b1a"
	domainID   = "default"
	domainName = "Default"
	region     = "RegionOne"
)

// Cloud is the three fakes. Its methods are safe for concurrent use.
type Cloud struct {
	kubernetes *kubernetes
	keystone   *keystone
	neutron    *neutron
	password   string
	token      string
	authority  []byte

	stop context.CancelFunc
	wait sync.WaitGroup
}

// Start runs the three fakes on free ports of 127.0.0.1 until Close.
func Start(opts Options) (*Cloud, error) {
	opts = opts.withDefaults()
	secure, authority, err := certify(time.Now())
	if err != nil {
		return nil, fmt.Errorf("start fake kubernetes: %w", err)
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
				return nil, errors.Join(fmt.Errorf("start fake %s: %w", s.name, err), c.closeServices())
			}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.wait.Go(func() { c.kubernetes.cluster.run(ctx, opts.EventInterval) })
	return c, nil
}

// Close stops the fakes, closes their connections and waits for their goroutines. A
// second call does nothing.
func (c *Cloud) Close() error {
	c.stop()
	err := c.closeServices()
	c.wait.Wait()
	return err
}

// KubernetesURL is the https URL of the Kubernetes API, without a trailing slash.
func (c *Cloud) KubernetesURL() string { return c.kubernetes.service.url() }

// KeystoneURL is the auth_url, which ends in /v3.
func (c *Cloud) KeystoneURL() string { return c.keystone.service.url() + "/v3" }

// NeutronURL is the endpoint in the catalog, without a version.
func (c *Cloud) NeutronURL() string { return c.neutron.service.url() }

// Username is the user that Keystone accepts, in the domain that Domain returns.
func (c *Cloud) Username() string { return username }

// Password is the user's password, a new one at every start.
func (c *Cloud) Password() string { return c.password }

// Project is the name of the project that a token may be scoped to.
func (c *Cloud) Project() string { return project }

// ProjectID is the identifier of that project, which requests for quotas contain.
func (c *Cloud) ProjectID() string { return projectID }

// Domain is the name of the domain of both the user and the project.
func (c *Cloud) Domain() string { return domainName }

// Region is the only region in the catalog.
func (c *Cloud) Region() string { return region }

// Token is the bearer token that the Kubernetes API accepts, a new one at every start.
func (c *Cloud) Token() string { return c.token }

// Authority is the CA certificate of the Kubernetes API, in PEM.
func (c *Cloud) Authority() []byte { return slices.Clone(c.authority) }

// Kubeconfig is a kubeconfig file for the Kubernetes API, with the token.
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

// Package certificate reads certificates from files or from a secret of Kubernetes, and measures
// their expiry, their chain, their names and their private key.
package certificate

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

// New implements collectors.Kind. It reads the kubeconfig or the service account for a secret.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	made := &collector{name: env.Name, config: *c}
	if c.Secret == nil {
		return made, nil
	}
	var err error
	made.api, err = (&kubernetes.Config{Kubeconfig: c.Secret.Kubeconfig, Context: c.Secret.Context}).Connect(env.Hide, env.Bodies)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return made, nil
}

// collector is a collector of the kind certificate.
type collector struct {
	name   string
	config Config
	// api is nil without a secret.
	api  *kubernetes.Connection
	note string
}

// collection is one collection.
type collection struct {
	*collector
	collectors.Batch
	roots *x509.CertPool
	// rootsErr is why nothing can be verified.
	rootsErr error
	errs     []error
	// read are the certificates that were read. first and until are the one that expires first.
	read  int
	first string
	until time.Time
	// doubt is why the first certificate that is not in order is not.
	doubt string
}

// Collect reads the certificates.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	r := &collection{collector: c}
	if r.roots, r.rootsErr = readRoots(c.config.CAFile); r.rootsErr != nil {
		r.errs = append(r.errs, r.rootsErr)
	}
	var took time.Duration
	if c.config.Secret != nil {
		took = r.secret(ctx)
	} else {
		r.files(ctx)
	}
	if !r.until.IsZero() {
		r.Set(remote.CertificateExpiryMetric, collectors.EpochSeconds(r.until), c.name)
	}
	var reason remote.Reason
	if len(r.errs) > 0 {
		reason = remote.ReasonOf(r.errs[0])
	}
	remote.AddDependency(&r.Batch, c.name, took, reason)
	return r.Samples, r.finish(reason)
}

// finish writes the note and returns the error of the collection.
func (r *collection) finish(reason remote.Reason) error {
	if reason != "" {
		r.note = text.Short(fmt.Sprintf("certificate %s: %v", reason, r.errs[0]), collectors.MaxNote)
		more := ""
		if n := len(r.errs) - 1; n > 0 {
			more = fmt.Sprintf("; and %d more", n)
		}
		return errors.New(text.Short(fmt.Sprintf("read certificate: %v", r.errs[0]), collectors.MaxReason-len(more)) + more)
	}
	note := fmt.Sprintf("%s, %s expires %s", text.Plural(r.read, "certificate"), r.first, r.until.UTC().Format(time.DateTime))
	if r.doubt != "" {
		note = r.doubt + "; " + note
	}
	r.note = text.Short(note, collectors.MaxNote)
	return nil
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// Note returns which certificate expires first, or why one cannot be read.
func (c *collector) Note() string { return c.note }

// files measures the files.
func (r *collection) files(ctx context.Context) {
	for _, file := range r.matched() {
		if ctx.Err() != nil {
			r.errs = append(r.errs, collectors.Errorf(remote.ReasonTimeout, "%s: %w", file, ctx.Err()))
			return
		}
		chain, err := readChain(file)
		r.certificate(file, chain, err)
		if err == nil && r.config.KeyFile != "" {
			key, err := read(r.config.KeyFile)
			r.key(file, chain[0], r.config.KeyFile, key, err)
		}
	}
}

func readChain(file string) ([]*x509.Certificate, error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	chain, err := parseChain(data)
	if err != nil {
		return nil, withSubject(file, err)
	}
	return chain, nil
}

// matched returns the files of the configuration and those that its patterns match, each once.
func (r *collection) matched() []string {
	var all []string
	for _, path := range r.config.Files {
		if !pattern(path) {
			all = append(all, path)
			continue
		}
		found, err := filepath.Glob(path)
		found = slices.DeleteFunc(found, func(file string) bool { return !utf8.ValidString(file) })
		if err != nil || len(found) == 0 {
			r.errs = append(r.errs, collectors.Errorf(remote.ReasonNotFound, "no file matches %s", path))
		}
		all = append(all, found...)
	}
	all = collectors.Unique(all)
	if len(all) > maxFiles {
		r.errs = append(r.errs, collectors.Errorf(remote.ReasonProtocol, "%d files match: expected at most %d", len(all), maxFiles))
		all = all[:maxFiles]
	}
	return all
}

// secret requests and measures the secret, and returns how long the response took.
func (r *collection) secret(ctx context.Context) time.Duration {
	defer r.api.Close() // the next request may be hours later
	s := r.config.Secret
	var certificate, key []byte
	began := time.Now()
	err := r.api.Get(ctx, "/api/v1/namespaces/"+s.Namespace+"/secrets/"+s.Name, func(body []byte) (err error) {
		certificate, key, err = parseSecret(body)
		return err
	})
	took := time.Since(began)
	if err != nil {
		r.certificate(s.id(), nil, collectors.Errorf(remote.ReasonOf(err), "secret %s: %w", s.id(), err))
		return 0
	}
	chain, err := parseChain(certificate)
	if err != nil {
		err = withSubject("secret "+s.id(), err)
	}
	r.certificate(s.id(), chain, err)
	if err == nil {
		r.key(s.id(), chain[0], "secret "+s.id(), key, nil)
	}
	return took
}

// id is the value of the label certificate.
func (s *Secret) id() string { return s.Namespace + "/" + s.Name }

// certificate appends what is measured of one file or secret.
func (r *collection) certificate(id string, chain []*x509.Certificate, err error) {
	r.Set(readableMetric, collectors.Number(err == nil), r.name, id)
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.read++
	until, untrusted := verify(chain, r.roots, time.Now())
	if r.until.IsZero() || until.Before(r.until) {
		r.first, r.until = id, until
	}
	r.Set(expiryMetric, collectors.EpochSeconds(until), r.name, id)
	r.Set(notBeforeMetric, collectors.EpochSeconds(chain[0].NotBefore), r.name, id)
	if r.rootsErr == nil {
		r.Set(verifiedMetric, collectors.Number(untrusted == nil), r.name, id)
		if untrusted != nil {
			r.doubtful(id, fmt.Sprintf("not verified (%v)", untrusted))
		}
	}
	for _, name := range r.config.Names {
		covered := chain[0].VerifyHostname(name)
		r.Set(coveredMetric, collectors.Number(covered == nil), r.name, id, name)
		if covered != nil {
			r.doubtful(id, "not for "+name)
		}
	}
}

// key appends whether a private key belongs to a certificate.
func (r *collection) key(id string, certificate *x509.Certificate, subject string, data []byte, err error) {
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	public, err := parseKey(data)
	if err != nil {
		r.errs = append(r.errs, withSubject(subject, err))
		return
	}
	ok := matches(certificate, public)
	r.Set(keyMatchesMetric, collectors.Number(ok), r.name, id)
	if !ok {
		r.doubtful(id, "the private key is of another certificate")
	}
}

func (r *collection) doubtful(id, why string) { r.doubt = cmp.Or(r.doubt, id+": "+why) }

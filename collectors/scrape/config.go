package scrape

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/textformat"
)

// Config configures the kind scrape: the metrics that a component exposes in the Prometheus text
// format or as OpenMetrics.
type Config struct {
	// URL of the metrics, http or https, without credentials in it.
	URL string `yaml:"url"`
	// Several has several URLs in place of URL.
	discovery.Several `yaml:",inline"`
	// UnixSocket is the path of the socket to connect to instead of the URL's host.
	UnixSocket string `yaml:"unix_socket,omitempty"`
	// Keep are regular expressions, anchored at both ends, for the names of the metrics to keep.
	// Without any, all are kept.
	Keep []string `yaml:"keep,omitempty"`
	// HonorTimestamps keeps the timestamps of samples; on by default.
	HonorTimestamps bool `yaml:"honor_timestamps"`
	// HonorLabels keeps the label component of a target's series, which otherwise becomes
	// exported_component. Off by default.
	HonorLabels bool `yaml:"honor_labels,omitempty"`
	// HonorVitalsMetrics keeps metrics whose names begin with "vitals_", which otherwise are
	// dropped: rules cannot distinguish them from those of this process. Off by default.
	HonorVitalsMetrics bool `yaml:"honor_vitals_metrics,omitempty"`
	// FollowRedirects follows redirects to other hosts, too. Off by default.
	FollowRedirects bool `yaml:"follow_redirects,omitempty"`

	// The limits: a scrape that exceeds one fails as a whole. BodySizeLimit
	// (10MiB) counts decompressed bytes, SampleLimit (2,000) the samples kept,
	// LabelLimit (64) the labels of a series with the name and the label component,
	// LabelValueLengthLimit (2,048) the bytes of a label's value or name.
	BodySizeLimit         collectors.Size `yaml:"body_size_limit"`
	SampleLimit           int             `yaml:"sample_limit"`
	LabelLimit            int             `yaml:"label_limit"`
	LabelValueLengthLimit int             `yaml:"label_value_length_limit"`

	BasicAuth *remote.BasicAuth `yaml:"basic_auth,omitempty"`
	// BearerTokenFile is read at every scrape, so that a token can be rotated.
	BearerTokenFile string            `yaml:"bearer_token_file,omitempty"`
	TLS             *remote.ClientTLS `yaml:"tls,omitempty"`
}

// SetDefaults sets the defaults of the block before it is decoded.
func (c *Config) SetDefaults() {
	c.HonorTimestamps = true
	c.BodySizeLimit = 10 << 20
	c.SampleLimit = 2000
	c.LabelLimit = 64
	c.LabelValueLengthLimit = 2048
}

// TargetNames implements collectors.Several.
func (c *Config) TargetNames(collector string) ([]collectors.TargetName, bool) {
	return c.targets().Names(collector)
}

// targets returns the targets, nil if there is only one.
func (c *Config) targets() *discovery.Targets {
	return c.Of(discovery.Plan{Key: "url", Set: c.URL != "", Label: "component", Example: "https://target.example/metrics", One: func(address string) collectors.Kind {
		one := *c
		one.Several, one.URL = discovery.Several{}, address
		return &one
	}})
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	if t := c.targets(); t != nil {
		return t.Problems()
	}
	problems := c.urlProblems()
	problems = append(problems, remote.SocketProblems("unix_socket", c.UnixSocket)...)
	for i, expr := range c.Keep {
		if _, err := regexp.Compile(expr); err != nil {
			problems = append(problems, collectors.Problem{Path: fmt.Sprintf("keep[%d]", i), Text: fmt.Sprintf("keep %q: expected a regular expression: %v", expr, err)})
		}
	}
	problems = append(problems, c.limitProblems()...)
	return append(problems, remote.AuthProblems(c.BasicAuth, c.BearerTokenFile, c.TLS)...)
}

func (c *Config) urlProblems() []collectors.Problem {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		// The text is not quoted: it may contain a password.
		return []collectors.Problem{{Path: "url", Text: "expected a URL such as http://127.0.0.1:9100/metrics"}}
	case u.User != nil:
		return []collectors.Problem{{Path: "url", Text: "credentials in the URL: expected them in basic_auth"}}
	case remote.InvalidPort(u):
		return []collectors.Problem{{Path: "url", Text: fmt.Sprintf("port %s in the URL: expected 1 to 65535", u.Port())}}
	}
	return nil
}

func (c *Config) limitProblems() []collectors.Problem {
	var problems []collectors.Problem
	for _, limit := range []struct {
		path  string
		value int64
	}{
		{"body_size_limit", int64(c.BodySizeLimit)},
		{"sample_limit", int64(c.SampleLimit)},
		{"label_limit", int64(c.LabelLimit)},
		{"label_value_length_limit", int64(c.LabelValueLengthLimit)},
	} {
		if limit.value <= 0 {
			problems = append(problems, collectors.Problem{Path: limit.path, Text: fmt.Sprintf("%s %d: expected more than 0", limit.path, limit.value)})
		}
	}
	return problems
}

// External implements Kind. A target on loopback, on the unspecified address or behind a Unix
// socket is on this host.
func (c *Config) External() bool {
	if t := c.targets(); t != nil {
		return t.External()
	}
	u, err := url.Parse(c.URL)
	return c.UnixSocket == "" && (err != nil || !remote.LocalHost(u.Hostname()))
}

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements collectors.Targeted.
func (c *Config) ConfigurableTarget() {}

// PassedOn implements Exporter: every series gets the label component, unless it has one
// that is honoured.
func (c *Config) PassedOn(name string) map[string][]string {
	if name == "" || c.HonorLabels {
		return map[string][]string{"component": nil}
	}
	passed := map[string][]string{"component": {name}}
	if t := c.targets(); t != nil {
		return t.PassedOn(name, passed)
	}
	return passed
}

// Forwards implements Exporter.
func (c *Config) Forwards(metric string) bool {
	keep, err := c.compileKeep()
	o := textformat.Options{Keep: keep, HonorVitals: c.HonorVitalsMetrics}
	return err == nil && o.Keeps(metric) && (c.HonorLabels || !strings.HasPrefix(metric, ownPrefix))
}

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	if t := c.targets(); t != nil {
		return t.New(env)
	}
	keep, err := c.compileKeep()
	if err != nil {
		return nil, fmt.Errorf("compile keep: %w", err)
	}
	parser := textformat.New(textformat.Options{
		Component: env.Name, Own: ownPrefix, Keep: keep,
		HonorTimestamps: c.HonorTimestamps, HonorLabels: c.HonorLabels, HonorVitals: c.HonorVitalsMetrics,
		SampleLimit: c.SampleLimit, LabelLimit: c.LabelLimit, LengthLimit: c.LabelValueLengthLimit,
		Memory: env.Memory,
	})
	return &collector{name: env.Name, client: client{config: *c, hide: env.Hide}, parser: parser, limit: c.BodySizeLimit, bodies: env.Bodies}, nil
}

// compileKeep returns the expression for the names to keep, or nil for all.
func (c *Config) compileKeep() (*regexp.Regexp, error) {
	if len(c.Keep) == 0 {
		return nil, nil
	}
	return regexp.Compile("^(?:" + strings.Join(c.Keep, "|") + ")$")
}

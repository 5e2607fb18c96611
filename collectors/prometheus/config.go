package prometheus

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
	"github.com/vitals-health/vitals/internal/promexpr"
)

// maxExpr is the length of an expression in bytes.
const maxExpr = 8 << 10

// Config configures the kind prometheus: whether a Prometheus-compatible server answers queries,
// and the results of instant queries.
type Config struct {
	// URL is that of the server, http or https, with the prefix of its paths and without
	// /api/v1. Parameters in its query are sent with every request.
	URL string `yaml:"url"`
	// Headers are sent unchanged, such as that of a tenant. HeaderFiles are files with the
	// values of secret headers. They are read in every collection.
	Headers     map[string]string `yaml:"headers,omitempty"`
	HeaderFiles map[string]string `yaml:"header_files,omitempty"`

	BasicAuth *remote.BasicAuth `yaml:"basic_auth,omitempty"`
	// BearerTokenFile is read in every collection, so that a token can be rotated.
	BearerTokenFile string            `yaml:"bearer_token_file,omitempty"`
	TLS             *remote.ClientTLS `yaml:"tls,omitempty"`

	// Queries are the instant queries by their names, which are values of the label query.
	Queries map[string]Query `yaml:"queries,omitempty"`
}

// Query is one instant query. Each series of its result gives one number. The short form is the
// expression.
type Query struct {
	// Expr is an expression of PromQL whose result is a vector or a scalar.
	Expr string `yaml:"expr"`
	// Labels are the labels of the result that are kept.
	Labels []string `yaml:"labels,omitempty"`
}

// UnmarshalYAML reads an expression or a mapping.
func (q *Query) UnmarshalYAML(unmarshal func(any) error) error {
	var form any
	if err := unmarshal(&form); err != nil {
		return err
	}
	if _, ok := form.(map[string]any); !ok {
		return unmarshal(&q.Expr)
	}
	type plain Query
	return unmarshal((*plain)(q))
}

// rows returns the queries as those of other servers, without the expressions.
func (c *Config) rows() query.Queries {
	rows := query.Queries{}
	for name, q := range c.Queries {
		rows[name] = query.Query{Labels: q.Labels}
	}
	return rows
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	problems := c.urlProblems()
	headers := remote.Headers{Values: c.Headers, Files: c.HeaderFiles}
	problems = append(problems, headers.Problems(c.BasicAuth != nil || c.BearerTokenFile != "")...)
	problems = append(problems, remote.AuthProblems(c.BasicAuth, c.BearerTokenFile, c.TLS)...)
	names := c.rows().Names()
	problems = append(problems, query.NamesProblems("queries", names)...)
	for _, name := range names {
		problems = append(problems, c.Queries[name].problems("queries."+name)...)
	}
	return problems
}

func (c *Config) urlProblems() []collectors.Problem {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		// The text is not quoted: it may contain a password.
		return []collectors.Problem{{Path: "url", Text: "expected a URL such as http://prometheus:9090"}}
	case u.User != nil:
		return []collectors.Problem{{Path: "url", Text: "credentials in the URL: expected them in basic_auth"}}
	case remote.InvalidPort(u):
		return []collectors.Problem{{Path: "url", Text: fmt.Sprintf("port %s in the URL: expected 1 to 65535", u.Port())}}
	case strings.Contains(u.Path+"/", apiPath+"/"):
		return []collectors.Problem{{Path: "url", Text: "the path of the API in the URL: expected the URL without " + apiPath}}
	case u.Fragment != "":
		return []collectors.Problem{{Path: "url", Text: "a fragment in the URL: expected none"}}
	}
	return nil
}

func (q Query) problems(path string) []collectors.Problem {
	var problems []collectors.Problem
	if err := checkExpr(q.Expr); err != nil {
		problems = append(problems, collectors.Problem{Path: path + ".expr", Text: err.Error()})
	}
	return append(problems, query.LabelProblems(path+".labels", q.Labels, func(label string) string {
		return fmt.Sprintf(`for it, as label_replace(..., "of_%s", "$1", "%s", "(.*)") gives it`, label, label)
	})...)
}

// checkExpr parses an expression. The server decides which experimental features it has.
func checkExpr(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("no expression: expected one")
	case len(text) > maxExpr:
		return fmt.Errorf("expression of %d bytes: expected at most %d", len(text), maxExpr)
	}
	expr, err := promexpr.ParseForeign(text)
	if err != nil {
		return fmt.Errorf("expression: %w", err)
	}
	if t := expr.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeScalar {
		return fmt.Errorf("the expression is a %s: expected an instant vector or a scalar", parser.DocumentedType(t))
	}
	return nil
}

// External implements Kind. Also a server on this host measures what is outside of it.
func (c *Config) External() bool { return true }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	base, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("parse url: %w", remote.WithoutURL(err))
	}
	return &collector{name: env.Name, config: *c, base: base, bodies: env.Bodies, hide: env.Hide}, nil
}

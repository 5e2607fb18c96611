package texttemplate

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/prometheus/common/helpers/templates"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/util/strutil"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/vitals-health/vitals/internal/expand"
)

// sample is an element of a query's result. Its fields and their order are those of
// Prometheus, because templates can print it.
type sample struct {
	Labels map[string]string
	Value  any
}

type queryResult []*sample

// root is the data of the outermost template. Like in Prometheus it has no name, which
// is visible in error messages.
type root = struct {
	Labels         map[string]string
	ExternalLabels map[string]string
	ExternalURL    string
	Value          any
}

func newRoot(d expand.Data) root {
	return root{d.Labels, d.ExternalLabels, d.ExternalURL, valueOf(d.Value, d.Histogram)}
}

// valueOf returns the value of a sample in templates: a histogram is no number.
func valueOf(v float64, h *histogram.FloatHistogram) any {
	if h != nil {
		return h
	}
	return v
}

// functions returns the functions that Prometheus documents in its template reference,
// and replaces those of text/template that can make large values. The Prometheus
// package that defines them registers metrics on import and parses per expansion.
func (e *expansion) functions() template.FuncMap {
	return template.FuncMap{
		"print":    e.printing(fmt.Sprint),
		"println":  e.printing(fmt.Sprintln),
		"html":     e.printing(template.HTMLEscaper),
		"js":       e.printing(template.JSEscaper),
		"urlquery": e.printing(template.URLQueryEscaper),
		"printf":   e.printf,

		"query":       e.runQuery,
		"first":       first,
		"label":       func(name string, s *sample) string { return s.Labels[name] },
		"value":       func(s *sample) any { return s.Value },
		"strvalue":    func(s *sample) string { return s.Labels["__value__"] },
		"sortByLabel": sortByLabel,
		"args":        e.args,

		"title":          charged(e, func(s string) string { return cases.Title(language.AmericanEnglish, cases.NoLower).String(s) }),
		"toUpper":        charged(e, strings.ToUpper),
		"toLower":        charged(e, strings.ToLower),
		"graphLink":      charged(e, strutil.GraphLinkForExpression),
		"tableLink":      charged(e, strutil.TableLinkForExpression),
		"urlQueryEscape": charged(e, url.QueryEscape),
		"stripPort":      charged(e, stripPort),
		"stripDomain":    charged(e, stripDomain),
		"reReplaceAll":   e.replaceAll,
		"match":          regexp.MatchString,
		"safeHtml":       func(s string) htmltemplate.HTML { return htmltemplate.HTML(s) },

		"humanize":           number(humanize),
		"humanize1024":       number(humanize1024),
		"humanizePercentage": number(func(v float64) string { return fmt.Sprintf("%.4g%%", v*100) }),
		"humanizeDuration":   templates.HumanizeDuration,
		"humanizeTimestamp":  templates.HumanizeTimestamp,
		"toTime":             toTime,
		"toDuration":         toDuration,
		"now":                func() float64 { return float64(e.data.At.UnixMilli()) / 1000 },
		"parseDuration":      parseDuration,

		"externalURL": func() string { return e.data.ExternalURL },
		"pathPrefix":  e.pathPrefix,
	}
}

// printf first estimates the size of its result, because a short format can make a
// large one: widths up to a million, and the same argument many times.
func (e *expansion) printf(format string, args ...any) (string, error) {
	heaviest, err := e.weighAll(args)
	if err != nil {
		return "", err
	}
	widths := 0
	if strings.Contains(format, "*") && slices.ContainsFunc(args, func(a any) bool { return reflect.ValueOf(a).CanInt() }) {
		widths = maxWidth
	}
	// 350 bytes is the longest number; a byte of a string becomes six at most.
	estimate := len(format) + numbers(format) + strings.Count(format, "*")*widths +
		strings.Count(format, "%")*(350+6*heaviest)
	if estimate > maxWork {
		return "", errWork
	}
	s := fmt.Sprintf(format, args...)
	return s, e.charge(len(s))
}

// maxWidth is the largest width and precision that package fmt accepts.
const maxWidth = 1_000_000

// numbers returns the sum of the numbers in a format, each at most maxWidth.
func numbers(format string) int {
	sum, n := 0, 0
	for _, c := range []byte(format) {
		if c < '0' || c > '9' {
			sum, n = sum+n, 0
			continue
		}
		n = min(n*10+int(c-'0'), maxWidth)
	}
	return sum + n
}

func (e *expansion) runQuery(expr string) (queryResult, error) {
	if e.query == nil {
		return nil, errors.New("no query function is configured")
	}
	// Prometheus uses timestamps in milliseconds.
	result, err := e.query(e.ctx, expr, time.UnixMilli(e.data.At.UnixMilli()))
	if err != nil {
		return nil, err
	}
	v := make(queryResult, len(result))
	for i, s := range result {
		v[i] = &sample{Labels: s.Labels, Value: valueOf(s.Value, s.Histogram)}
	}
	return v, e.charge(len(v))
}

func first(v queryResult) (*sample, error) {
	if len(v) == 0 {
		return nil, errors.New("first() called on vector with no elements")
	}
	return v[0], nil
}

func sortByLabel(label string, v queryResult) queryResult {
	slices.SortStableFunc(v, func(a, b *sample) int { return strings.Compare(a.Labels[label], b.Labels[label]) })
	return v
}

func (e *expansion) args(args ...any) (map[string]any, error) {
	m := make(map[string]any, len(args))
	for i, a := range args {
		m[fmt.Sprintf("arg%d", i)] = a
	}
	_, err := e.weigh(m)
	return m, err
}

// replaceAll first bounds the size of its result, because a short replacement can make
// much of a long text: each $ inserts the whole match at most.
func (e *expansion) replaceAll(pattern, replacement, s string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	if len(s)+(len(s)+1)*len(replacement)+len(s)*strings.Count(replacement, "$") > maxWork {
		return "", errWork
	}
	replaced := re.ReplaceAllString(s, replacement)
	return replaced, e.charge(len(replaced))
}

func (e *expansion) pathPrefix() (string, error) {
	u, err := url.Parse(e.data.ExternalURL)
	if err != nil {
		return "", err
	}
	return u.Path, nil
}

func parseDuration(s string) (float64, error) {
	d, err := model.ParseDurationAllowNegative(s)
	return float64(d) / float64(time.Second), err
}

func stripPort(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	return hostPort
}

func stripDomain(hostPort string) string {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	if net.ParseIP(host) != nil {
		return hostPort
	}
	host, _, _ = strings.Cut(host, ".")
	if port == "" {
		return host
	}
	return net.JoinHostPort(host, port)
}

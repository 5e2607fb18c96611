package texttemplate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/util/features"

	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/expand/texttemplate"
)

// data is the default input of the tests.
func data(value float64) expand.Data {
	return expand.Data{
		Labels:         map[string]string{"job": "api", "instance": "host-1.example.com:9090", "html": `<b a="x">'&`, "empty": ""},
		ExternalLabels: map[string]string{"cluster": "eu-1", "replica": "a"},
		ExternalURL:    "http://vitals.example.com:8080/prefix/x",
		Value:          value,
		At:             time.UnixMilli(1_700_000_000_123),
	}
}

// vector is the result of each query of the tests, except for "fail" and "empty".
func vector() promql.Vector {
	return promql.Vector{
		{Metric: labels.FromStrings("__name__", "up", "job", "b", "host", "x.y:1", "__value__", "v1"), F: 1},
		{Metric: labels.FromStrings("__name__", "up", "job", "a", "host", "z"), F: 0},
		{Metric: labels.FromStrings("__name__", "up", "job", "c", "host", "n"), F: math.NaN()},
		{Metric: labels.EmptyLabels(), F: 2.5e9},
	}
}

func promQuery(_ context.Context, expr string, at time.Time) (promql.Vector, error) {
	switch expr {
	case "fail":
		return nil, errors.New("query failed")
	case "empty":
		return nil, nil
	case "histogram":
		return promql.Vector{{H: someHistogram()}}, nil
	case "time":
		return promql.Vector{{F: float64(at.UnixMilli())}}, nil
	}
	return vector(), nil
}

func query(ctx context.Context, expr string, at time.Time) ([]expand.Sample, error) {
	vector, err := promQuery(ctx, expr, at)
	var samples []expand.Sample
	for _, s := range vector {
		samples = append(samples, expand.Sample{Labels: s.Metric.Map(), Value: s.F, Histogram: s.H})
	}
	return samples, err
}

// prometheus expands text as an alerting rule of Prometheus does.
func prometheus(text string, d expand.Data) (string, error) {
	defs := "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	u, err := url.Parse(d.ExternalURL)
	if err != nil {
		return "", err
	}
	alert := template.AlertTemplateData(d.Labels, d.ExternalLabels, d.ExternalURL, promql.Sample{F: d.Value, H: d.Histogram})
	return template.NewTemplateExpander(context.Background(), defs+text, "__alert_Test", alert,
		model.TimeFromUnixNano(d.At.UnixNano()), promQuery, u, nil).Expand()
}

func ours(text string, d expand.Data) (string, error) {
	tmpl, err := texttemplate.Parse("__alert_Test", text)
	if err != nil {
		return "", err
	}
	return tmpl.Expand(context.Background(), d, query)
}

// comparable hides what differs on purpose: addresses (in hexadecimal
// and decimal), and the names of types that
// are not exported.
func comparable(text string) string {
	text = regexp.MustCompile(`0[xX][0-9a-fA-F]{9,16}|[cC]0[0-9a-fA-F]{8}|[0-9a-fA-F]{12,14}`).ReplaceAllString(text, "POINTER")
	return strings.NewReplacer("texttemplate.queryResult", "template.queryResult", "texttemplate.sample", "template.sample").Replace(text)
}

// same fails the test unless Prometheus and Expand have the same result for a template.
func same(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, d expand.Data) (string, error) {
	t.Helper()
	want, wantErr := prometheus(text, d)
	got, err := ours(text, d)
	got, want = comparable(got), comparable(want)
	if got != want || (err == nil) != (wantErr == nil) {
		t.Errorf("Expand(%q) = %q, %v, want %q, %v", text, got, err, want, wantErr)
	}
	if err != nil && strings.Contains(err.Error(), "internal error") {
		t.Errorf("Expand(%q): %v", text, err)
	}
	return got, err
}

func TestExpandsAsPrometheus(t *testing.T) {
	for group, texts := range corpus() {
		for _, text := range texts {
			t.Run(fmt.Sprintf("%s %s", group, text), func(t *testing.T) {
				for _, v := range []float64{0, 1, -1, 3.14159, 1e9, 1e-5, 123456789, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e300} {
					same(t, text, data(v))
				}
				same(t, text, expand.Data{At: time.Unix(0, 0)})
			})
		}
	}
}

// Most of the corpus expands without an error.
func TestCorpusExpands(t *testing.T) {
	total, good := 0, 0
	for group, texts := range corpus() {
		for _, text := range texts {
			_, err := ours(text, data(3))
			total++
			if err == nil {
				good++
			}
			if wantErr := group == "error" || group == "syntax error"; (err != nil) != wantErr {
				t.Errorf("group %q: Expand(%q) error = %v, want error %v", group, text, err, wantErr)
			}
		}
	}
	if total < 150 || good < 150 {
		t.Errorf("corpus has %d templates of which %d expand, want at least 150 that expand", total, good)
	}
}

func TestHasEveryFunction(t *testing.T) {
	r := features.NewRegistry()
	template.RegisterFeatures(r)
	names := r.Get()[features.TemplatingFunctions]
	if len(names) < 25 {
		t.Fatalf("Prometheus has %d functions, want at least 25", len(names))
	}
	for name := range names {
		if _, err := texttemplate.Parse("x", "{{ "+name+" }}"); err != nil {
			t.Errorf("Parse({{ %s }}) = %v, want no error", name, err)
		}
	}
}

package server

import (
	"net/http"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/exposition"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/states"
)

// metrics serves the snapshot's samples and the server's own. The status is always 200:
// a scrape that fails hides the reason for the failure.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, v *view) {
	f := negotiateFormat(r.Header["Accept"])
	s.shared.current(pathMetrics+" "+f.ContentType(), v, s.opts.Now(), func() []byte { return s.renderMetrics(v, f) }).send(w, r, f)
}

// SnapshotMetrics returns the current snapshot's samples in the text format, without the metrics of
// the process. It must not be changed.
func (s *Server) SnapshotMetrics() []byte { return s.current().exposition[exposition.Text]().Text() }

func (s *Server) renderMetrics(v *view, f exposition.Format) []byte {
	// After an error of one collector, the samples of the others are served.
	gathered, err := s.own.Gather()
	if err != nil {
		s.opts.Logger.Warn("gather own metrics", "err", err)
	}
	return v.exposition[f]().Merge(exposition.Render([]evaluator.Batch{exposition.Gathered(gathered)}, f))
}

// slis serves kubernetes_healthcheck for tools that use it: every rule of a state by
// name, and the state itself under its own name.
func (s *Server) slis(w http.ResponseWriter, r *http.Request, v *view) {
	f := negotiateFormat(r.Header["Accept"])
	v.slis[f].send(w, r, f)
}

func (v *view) renderSLIs(f exposition.Format) []byte {
	const name = "kubernetes_healthcheck"
	batch := evaluator.Batch{Descs: []collectors.Desc{{
		Name: name, Type: model.MetricTypeGauge,
		Help: "Whether the rule, or the state as a whole, lets the probe pass (1) or makes it fail (0).",
	}}}
	results := map[[2]string]bool{}
	for _, st := range v.states {
		kind := states.Kubernetes(st.Name)
		for _, i := range st.Rules {
			rule := &v.snap.Rules[i]
			key := [2]string{rule.Name, kind}
			before, ok := results[key]
			results[key] = !rule.Decides && (before || !ok)
		}
		results[[2]string{st.Name, kind}] = st.Verdict != evaluator.Fail
	}
	for key, good := range results {
		sample := collectors.Sample{Labels: labels.FromStrings(model.MetricNameLabel, name, "name", key[0], "type", key[1])}
		if good {
			sample.Value = 1
		}
		batch.Samples = append(batch.Samples, sample)
	}
	return exposition.Render([]evaluator.Batch{batch}, f).Text()
}

// negotiateFormat returns the format that a scraper prefers, by default the text format.
func negotiateFormat(accept []string) exposition.Format {
	const om = "openmetrics-text"
	offers := []reply.Offer{
		{Type: "text", Subtype: "plain", Version: "0.0.4"},
		{Type: "application", Subtype: om, Version: "1.0.0"},
		{Type: "application", Subtype: om, Version: "0.0.1"},
	}
	switch reply.Negotiate(accept, offers) {
	case 1, 2:
		return exposition.OpenMetrics
	}
	return exposition.Text
}

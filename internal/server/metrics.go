package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/states"
)

// metrics serves the snapshot's samples and the server's own. The status is always 200:
// a scrape that fails hides the reason for the failure.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, v *view) {
	f := negotiateFormat(r.Header["Accept"])
	// After an error of one collector, the samples of the others are served.
	gathered, err := s.own.Gather()
	if err != nil {
		s.opts.Logger.Warn("gather own metrics", "err", err)
	}
	var b bytes.Buffer
	v.exposition[f]().write(&b, expose([]evaluator.Batch{batchOf(gathered)}, f), f)
	sendMetrics(w, r, &b, f)
}

// slis serves kubernetes_healthcheck for tools that use it: every rule of a state by
// name, and the state itself under its own name.
func (s *Server) slis(w http.ResponseWriter, r *http.Request, v *view) {
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
	f := negotiateFormat(r.Header["Accept"])
	var b bytes.Buffer
	b.Write(expose([]evaluator.Batch{batch}, f).text)
	sendMetrics(w, r, &b, f)
}

func sendMetrics(w http.ResponseWriter, r *http.Request, b *bytes.Buffer, f format) {
	if f == openMetrics {
		b.WriteString("# EOF\n")
	}
	h := w.Header()
	h.Set("Vary", "Accept, Accept-Encoding")
	if !acceptsGzip(r.Header["Accept-Encoding"]) {
		send(w, http.StatusOK, f.contentType(), b.Bytes())
		return
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // The level is valid.
	_, _ = z.Write(b.Bytes())                            // A buffer takes everything.
	_ = z.Close()
	h.Set("Content-Encoding", "gzip")
	send(w, http.StatusOK, f.contentType(), packed.Bytes())
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3).
func acceptsGzip(accept []string) bool {
	for _, header := range accept {
		for element := range strings.SplitSeq(header, ",") {
			coding, params, _ := strings.Cut(element, ";")
			if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				continue
			}
			key, q, weighted := strings.Cut(strings.TrimSpace(params), "=")
			if !weighted || !strings.EqualFold(key, "q") {
				return true
			}
			quality, err := strconv.ParseFloat(q, 64)
			return err == nil && quality > 0
		}
	}
	return false
}

// batchOf turns gathered counters, gauges and summaries, which are all that
// ownMetrics has, into samples.
func batchOf(gathered []*dto.MetricFamily) evaluator.Batch {
	var batch evaluator.Batch
	for _, mf := range gathered {
		kind := model.MetricType(strings.ToLower(mf.GetType().String()))
		batch.Descs = append(batch.Descs, collectors.Desc{Name: mf.GetName(), Help: mf.GetHelp(), Type: kind})
		for _, m := range mf.GetMetric() {
			batch.Samples = append(batch.Samples, samplesOf(mf.GetName(), m)...)
		}
	}
	return batch
}

func samplesOf(name string, m *dto.Metric) []collectors.Sample {
	sample := func(suffix string, v float64, pairs ...string) collectors.Sample {
		pairs = append(pairs, model.MetricNameLabel, name+suffix)
		for _, l := range m.GetLabel() {
			pairs = append(pairs, l.GetName(), l.GetValue())
		}
		return collectors.Sample{Labels: labels.FromStrings(pairs...), Value: v}
	}
	switch {
	case m.Counter != nil:
		return []collectors.Sample{sample("", m.GetCounter().GetValue())}
	case m.Gauge != nil:
		return []collectors.Sample{sample("", m.GetGauge().GetValue())}
	case m.Summary != nil:
		s := m.GetSummary()
		all := []collectors.Sample{sample("_sum", s.GetSampleSum()), sample("_count", float64(s.GetSampleCount()))}
		for _, q := range s.GetQuantile() {
			all = append(all, sample("", q.GetValue(), model.QuantileLabel, formatValue(q.GetQuantile())))
		}
		return all
	}
	return nil
}

// Package scrape collects the metrics that a component of the workload exports on this host.
package scrape

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/redact"
)

// The reasons of vitals_scrape_failure beyond those of a dependency.
const (
	reasonTooLarge       remote.Reason = "too_large"
	reasonTooManySamples remote.Reason = "too_many_samples"
	reasonLabelLimit     remote.Reason = "label_limit"
)

// reasons returns every reason of vitals_scrape_failure.
func reasons() []remote.Reason {
	return append(remote.Reasons(), reasonTooLarge, reasonTooManySamples, reasonLabelLimit)
}

// collector is the collector of the kind collector.
type collector struct {
	name   string
	limit  collectors.Size
	client client
	parser seriesParser
	// body is the last answer, decompressed; its memory is used again.
	body bytes.Buffer
	// families are the metrics of the last scrape, none after a failed one.
	families []collectors.Desc
}

// Collect scrapes once. A scrape that fails in any way yields none of the target's
// samples, so their series go stale together, as they do in Prometheus.
func (s *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	start := time.Now()
	parsed, err := s.scrape(ctx, start)
	took := time.Since(start)

	b := collectors.Batch{Samples: parsed.samples}
	reason := remote.ReasonOf(err)
	b.Set(upMetric, collectors.Number(err == nil), s.name)
	b.Set(durationMetric, took.Seconds(), s.name)
	b.Set(samplesMetric, float64(len(parsed.samples)), s.name)
	b.Set(droppedSamplesMetric, float64(parsed.dropped), s.name)
	b.Set(bodyMetric, float64(s.body.Len()), s.name)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), s.name, string(r))
	}
	s.families = parsed.families
	if err != nil {
		return b.Samples, errors.New(collectors.OneLine("scrape: "+redact.Values(remote.WithoutURL(err).Error(), s.client.secrets), collectors.MaxReason))
	}
	return b.Samples, nil
}

// Describe lists the collector's own metrics and those of the last scrape.
func (s *collector) Describe() []collectors.Desc {
	return append(collectors.Describe(defs()), s.families...)
}

func (s *collector) scrape(ctx context.Context, at time.Time) (exposition, error) {
	s.body.Reset()
	contentType, err := s.client.fetch(ctx, &s.body, int64(s.limit))
	if err != nil {
		return exposition{}, err
	}
	parsed, err := s.parser.parse(ctx, s.body.Bytes(), contentType, at)
	if err != nil {
		return exposition{}, err
	}
	return parsed, nil
}

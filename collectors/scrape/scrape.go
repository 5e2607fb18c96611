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
	"github.com/vitals-health/vitals/internal/text"
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

// collector is a collector of the kind scrape.
type collector struct {
	name   string
	limit  collectors.Size
	client client
	parser parser
	// body is the last answer, decompressed; its memory is reused.
	body bytes.Buffer
	// families are the metrics of the last scrape, none after a failed one.
	families []collectors.Desc
}

// Collect scrapes once. A scrape that fails returns none of the target's samples, so all its series
// go stale, as in Prometheus.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	start := time.Now()
	parsed, err := c.scrape(ctx)
	took := time.Since(start)

	b := collectors.Batch{Samples: parsed.samples}
	reason := remote.ReasonOf(err)
	b.Set(upMetric, collectors.Number(err == nil), c.name)
	b.Set(durationMetric, took.Seconds(), c.name)
	b.Set(samplesMetric, float64(len(parsed.samples)), c.name)
	b.Set(droppedSamplesMetric, float64(parsed.dropped), c.name)
	b.Set(reservedMetric, float64(parsed.reserved), c.name)
	b.Set(bodyMetric, float64(c.body.Len()), c.name)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), c.name, string(r))
	}
	c.families = parsed.families
	if err != nil {
		return b.Samples, errors.New(text.Short("scrape: "+redact.Values(remote.WithoutURL(err).Error(), c.client.secrets), collectors.MaxReason))
	}
	return b.Samples, nil
}

// Describe lists the metrics of the collector and those of the last scrape.
func (c *collector) Describe() []collectors.Desc {
	return append(collectors.Describe(defs()), c.families...)
}

func (c *collector) scrape(ctx context.Context) (exposition, error) {
	c.body.Reset()
	contentType, err := c.client.fetch(ctx, &c.body, int64(c.limit))
	if err != nil {
		return exposition{}, err
	}
	parsed, err := c.parser.parse(ctx, c.body.Bytes(), contentType, time.Now())
	if err != nil {
		return exposition{}, err
	}
	return parsed, nil
}

// Package scrape collects the metrics that a component of the workload exports on this host.
package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/textformat"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// The reasons of vitals_scrape_failure beyond those of a dependency.
const (
	reasonTooLarge       remote.Reason = "too_large"
	reasonTooManySamples               = remote.Reason(textformat.ReasonTooManySamples)
	reasonLabelLimit                   = remote.Reason(textformat.ReasonLabelLimit)
	reasonMemory         remote.Reason = "memory"
)

const (
	// ownPrefix is that of the metrics of the kind.
	ownPrefix = "vitals_scrape_"
	// bodyFactor is what an answer takes for each of its bytes: the buffer doubles as it grows.
	bodyFactor = 2
	// maxReused is the largest buffer that is kept for the next answer, in bytes.
	maxReused = 64 << 10
)

// reasons returns every reason of vitals_scrape_failure.
func reasons() []remote.Reason {
	return append(remote.Reasons(), reasonTooLarge, reasonTooManySamples, reasonLabelLimit, reasonMemory)
}

// collector is a collector of the kind scrape.
type collector struct {
	name   string
	limit  collectors.Size
	client client
	parser *textformat.Parser
	// body is the last answer, decompressed. Its memory is reused unless it is large.
	body   bytes.Buffer
	bodies *budget.Bodies
	// size is how many bytes of the last answer were read.
	size int
	// families are the metrics of the last scrape, none after a failed one.
	families []collectors.Desc
}

// Collect scrapes once. A scrape that fails returns none of the target's samples, so all its series
// go stale, as in Prometheus.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	start := time.Now()
	parsed, err := c.scrape(ctx)
	took := time.Since(start)

	b := collectors.Batch{Samples: parsed.Samples}
	reason := remote.ReasonOf(err)
	b.Set(upMetric, collectors.Number(err == nil), c.name)
	b.Set(durationMetric, took.Seconds(), c.name)
	b.Set(samplesMetric, float64(len(parsed.Samples)), c.name)
	b.Set(droppedSamplesMetric, float64(parsed.Dropped), c.name)
	b.Set(reservedMetric, float64(parsed.Reserved), c.name)
	b.Set(bodyMetric, float64(c.size), c.name)
	for _, r := range reasons() {
		b.Set(failureMetric, collectors.Number(r == reason), c.name, string(r))
	}
	c.families = parsed.Families
	if err != nil {
		return b.Samples, errors.New(text.Short("scrape: "+redact.Values(remote.WithoutURL(err).Error(), c.client.secrets), collectors.MaxReason))
	}
	return b.Samples, nil
}

// Describe lists the metrics of the collector and those of the last scrape.
func (c *collector) Describe() []collectors.Desc {
	return append(collectors.Describe(discovery.With(defs())), c.families...)
}

func (c *collector) scrape(ctx context.Context) (textformat.Exposition, error) {
	defer c.reuse()
	c.size = 0
	answer, err := c.client.fetch(ctx)
	if err != nil {
		return textformat.Exposition{}, err
	}
	defer answer.Close()
	plain := c.bodies.Reader(ctx, answer.plain, bodyFactor)
	defer plain.Release()
	n, err := c.body.ReadFrom(io.LimitReader(plain, int64(c.limit)+1))
	c.size = int(n)
	if err != nil {
		return textformat.Exposition{}, withReason(fmt.Errorf("read answer: %w", err))
	}
	if n > int64(c.limit) {
		return textformat.Exposition{}, collectors.Errorf(reasonTooLarge, "answer is larger than body_size_limit, %s", c.limit)
	}
	parsed, err := c.parser.Parse(ctx, c.body.Bytes(), answer.contentType, time.Now())
	return parsed, withReason(err)
}

// reuse keeps the memory of the body for the next answer, unless it is large.
func (c *collector) reuse() {
	if c.body.Cap() > maxReused {
		c.body = bytes.Buffer{}
	}
	c.body.Reset()
}

// withReason gives an error of the parser, or for lack of memory, its reason.
func withReason(err error) error {
	if errors.Is(err, budget.ErrExceeded) {
		return &collectors.Error[remote.Reason]{Reason: reasonMemory, Err: err}
	}
	if e, ok := errors.AsType[*collectors.Error[textformat.Reason]](err); ok {
		return &collectors.Error[remote.Reason]{Reason: remote.Reason(e.Reason), Err: err}
	}
	return err
}

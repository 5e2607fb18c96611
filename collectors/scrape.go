package collectors

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/vitals-health/vitals/internal/redact"
)

// The reasons of vitals_scrape_failure beyond those of a dependency.
const (
	reasonTooLarge       Reason = "too_large"
	reasonTooManySamples Reason = "too_many_samples"
	reasonLabelLimit     Reason = "label_limit"
)

// scrapeReasons returns every reason of vitals_scrape_failure.
func scrapeReasons() []Reason {
	return append(Reasons(), reasonTooLarge, reasonTooManySamples, reasonLabelLimit)
}

// scrape is the collector of the kind scrape.
type scrape struct {
	name   string
	limit  Size
	client scrapeClient
	parser seriesParser
	// body is the last answer, decompressed; its memory is used again.
	body bytes.Buffer
	// families are the metrics of the last scrape, none after a failed one.
	families []Desc
}

// Collect scrapes once. A scrape that fails in any way yields none of the target's
// samples, so their series go stale together, as they do in Prometheus.
func (s *scrape) Collect(ctx context.Context) ([]Sample, error) {
	start := time.Now()
	parsed, err := s.scrape(ctx, start)
	took := time.Since(start)

	b := batch{samples: parsed.samples}
	reason := scrapeReason(err)
	b.set(scrapeUpMetric, number(err == nil), s.name)
	b.set(scrapeDurationMetric, took.Seconds(), s.name)
	b.set(scrapeSamplesMetric, float64(len(parsed.samples)), s.name)
	b.set(scrapeDroppedSamplesMetric, float64(parsed.dropped), s.name)
	b.set(scrapeBodyMetric, float64(s.body.Len()), s.name)
	for _, r := range scrapeReasons() {
		b.set(scrapeFailureMetric, number(r == reason), s.name, string(r))
	}
	s.families = parsed.families
	if err != nil {
		return b.samples, errors.New(oneLine("scrape: "+redact.Values(withoutURL(err).Error(), s.client.secrets), maxReason))
	}
	return b.samples, nil
}

// Describe lists the collector's own metrics and those of the last scrape.
func (s *scrape) Describe() []Desc {
	return append(describe(scrapeDefs()), s.families...)
}

func (s *scrape) scrape(ctx context.Context, at time.Time) (exposition, error) {
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

package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"regexp"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/budget"
)

const (
	// maxHelp is the length in bytes at which a scraped help text is cut.
	maxHelp = 512
	// cacheScrapes is for how many scrapes a series that does not appear stays cached.
	cacheScrapes = 2
	// contextCheck is after how many entries the deadline is checked.
	contextCheck = 1024
)

const openMetrics = "application/openmetrics-text"

// parser converts an exposition to samples. It caches the labels of each series by its text, so
// that a cached series allocates no labels. It is not safe for concurrent use.
type parser struct {
	component string
	keep      *regexp.Regexp // nil keeps all

	honorTimestamps, honorLabels, honorVitals bool

	sampleLimit, labelLimit, lengthLimit int

	// memory is charged for the cached texts and series, and for the rest of the last scrape,
	// which is held.
	memory *budget.Account
	held   int64

	scrapes uint64
	byText  map[string]*seriesText
	// byHash finds a series that has two texts, such as with its labels in another order.
	byHash map[uint64]*series
}

// seriesText is one text of a series.
type seriesText struct {
	series *series
	// seen is the last scrape in which the text appeared.
	seen uint64
}

// series is one set of labels.
type series struct {
	labels labels.Labels
	// reserved is set for a series with a name and component of the collector's metrics.
	reserved bool
	// seen is the last scrape in which the series appeared, and taken the last of which a
	// sample was kept; t is the explicit timestamp of that sample, or 0.
	seen, taken uint64
	t           int64
}

// exposition is a parsed answer.
type exposition struct {
	samples  []collectors.Sample
	families []collectors.Desc
	// dropped counts samples that repeat a series, and reserved those with reserved names.
	dropped, reserved int
}

// parse parses one answer. A mistake in it, or an exceeded limit, fails the whole answer. at is
// the current time, which replaces later timestamps.
func (p *parser) parse(ctx context.Context, body []byte, contentType string, at time.Time) (exposition, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != "text/plain" && media != openMetrics {
		return exposition{}, collectors.Errorf(remote.ReasonProtocol, "answer has the content type %.100q: expected text/plain or %s", contentType, openMetrics)
	}
	// The parser treats a NUL byte between two tokens as the end of the answer, and would lose
	// the rest.
	if bytes.IndexByte(body, 0) >= 0 {
		return exposition{}, collectors.Errorf(remote.ReasonProtocol, "parse answer: it contains a NUL byte")
	}
	text, err := textparse.New(body, contentType, nil, textparse.ParserOptions{})
	if err != nil {
		return exposition{}, collectors.Errorf(remote.ReasonProtocol, "read content type: %w", err)
	}
	p.scrapes++
	p.memory.Add(-p.held)
	p.held = 0
	defer p.evict()
	r := reading{
		parser: p, text: text, now: at.UnixMilli(),
		families: families{openMetrics: media == openMetrics, limit: p.sampleLimit, charge: p.charge},
	}
	for n := 0; ; n++ {
		if n%contextCheck == 0 && ctx.Err() != nil {
			return exposition{}, fmt.Errorf("parse answer: %w", ctx.Err())
		}
		entry, err := text.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return exposition{}, collectors.Errorf(remote.ReasonProtocol, "parse answer: %w", err)
		}
		if err := r.entry(entry); err != nil {
			return exposition{}, err
		}
	}
	r.families.collect(&r.exposition)
	return r.exposition, nil
}

// evict removes what has not appeared for cacheScrapes scrapes.
func (p *parser) evict() {
	for text, t := range p.byText {
		if p.scrapes-t.seen >= cacheScrapes {
			delete(p.byText, text)
			p.memory.Add(-textBytes(len(text)))
		}
	}
	for hash, s := range p.byHash {
		if p.scrapes-s.seen >= cacheScrapes {
			delete(p.byHash, hash)
			p.memory.Add(-s.bytes())
		}
	}
}

// reading is the state of parsing one answer.
type reading struct {
	*parser
	exposition
	families families
	text     textparse.Parser
	now      int64
	// name is the last metric that was matched against keep, and use the result.
	name []byte
	use  use
}

// entry processes one entry of the exposition.
func (r *reading) entry(entry textparse.Entry) error {
	switch entry {
	case textparse.EntryHelp:
		name, help := r.text.Help()
		return r.families.help(name, help)
	case textparse.EntryType:
		name, kind := r.text.Type()
		return r.families.kind(name, kind)
	case textparse.EntrySeries:
		return r.sample()
	}
	return nil
}

// sample processes the current series of the parser.
func (r *reading) sample() error {
	text, timestamp, value := r.text.Series()
	switch r.useOfSeries(text) {
	case ignored:
		return nil
	case reserved:
		r.reserved++
		return nil
	}
	if len(r.samples) == r.sampleLimit {
		return collectors.Errorf(reasonTooManySamples, "more samples than sample_limit, %d", r.sampleLimit)
	}
	cached := r.byText[string(text)]
	if cached == nil {
		if err := r.memory.Grow(textBytes(len(text))); err != nil {
			return err
		}
		s, err := r.newSeries()
		if err != nil {
			r.memory.Add(-textBytes(len(text)))
			return err
		}
		cached = &seriesText{series: s}
		r.byText[string(text)] = cached
	}
	cached.seen = r.scrapes

	var t int64
	if timestamp != nil && r.honorTimestamps {
		t = min(*timestamp, r.now)
		if t < 0 { // before 1970: a value that overflowed
			t = r.now
		}
		if t == 0 {
			t = 1 // 0 is a sample without a timestamp
		}
	}
	s := cached.series
	s.seen = r.scrapes
	again := s.taken == r.scrapes
	if s.reserved || again && (t == 0 || s.t == 0 || t <= s.t) {
		r.dropped++
		return nil
	}
	if len(r.samples)%sampleChunk == 0 {
		if err := r.charge(sampleChunk * sampleBytes); err != nil {
			return err
		}
	}
	s.taken, s.t = r.scrapes, t
	r.samples = append(r.samples, collectors.Sample{Labels: s.labels, Value: value, T: t})
	r.families.used(s.labels)
	return nil
}

// newSeries returns the current series of the parser, with its labels.
func (r *reading) newSeries() (*series, error) {
	var written labels.Labels
	r.text.Labels(&written)
	if name, twice := written.HasDuplicateLabelNames(); twice {
		return nil, collectors.Errorf(remote.ReasonProtocol, "series of %.50q has the label %.50q twice", written.Get(model.MetricNameLabel), name)
	}
	builder := labels.NewBuilder(written)
	if own := written.Get(componentLabel); own == "" || !r.honorLabels {
		builder.Set(componentLabel, r.component)
		if own != "" {
			builder.Set(exportedLabel(written), own)
		}
	}
	set := builder.Labels()
	if !set.IsValid(model.UTF8Validation) {
		return nil, collectors.Errorf(remote.ReasonProtocol, "series of %.50q has an invalid name or label name", set.Get(model.MetricNameLabel))
	}
	if err := r.checkLabels(set); err != nil {
		return nil, err
	}
	hash := set.Hash()
	s := r.byHash[hash]
	if s == nil || !labels.Equal(s.labels, set) {
		replaced := s // another series with the same hash
		s = &series{labels: set, reserved: r.isReserved(set)}
		if err := r.memory.Grow(s.bytes()); err != nil {
			return nil, err
		}
		if replaced != nil {
			r.memory.Add(-replaced.bytes())
		}
		r.byHash[hash] = s
	}
	return s, nil
}

// checkLabels checks a series against the limits.
func (r *reading) checkLabels(set labels.Labels) error {
	name := set.Get(model.MetricNameLabel)
	if n := set.Len(); n > r.labelLimit {
		return collectors.Errorf(reasonLabelLimit, "series of %.50q has %d labels: label_limit is %d", name, n, r.labelLimit)
	}
	return set.Validate(func(l labels.Label) error {
		if n := max(len(l.Name), len(l.Value)); n > r.lengthLimit {
			return collectors.Errorf(reasonLabelLimit, "label %.50q of %.50q has %d bytes: label_value_length_limit is %d", l.Name, name, n, r.lengthLimit)
		}
		return nil
	})
}

// Package textformat converts metrics in the Prometheus text format and in OpenMetrics to samples of
// a component, within limits and without the names that are reserved for Vitals.
package textformat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/vitals-health/vitals/collectors"
)

const (
	// maxHelp is the length in bytes at which a help text is cut.
	maxHelp = 512
	// cacheTexts is for how many texts a series that does not appear stays cached.
	cacheTexts = 2
	// contextCheck is after how many entries the deadline is checked.
	contextCheck = 1024
)

// Parser converts texts of one target to samples. It caches the labels of each series by its
// text, so that a cached series allocates no labels. It is not safe for concurrent use.
type Parser struct {
	Options
	// held is what the last text takes of Memory beyond the cache, in bytes.
	held int64

	texts  uint64
	byText map[string]*seriesText
	// byHash finds a series that has two texts, such as with its labels in another order.
	byHash map[uint64]*series
}

// seriesText is one text of a series.
type seriesText struct {
	series *series
	// seen is the last text in which it appeared.
	seen uint64
}

// series is one set of labels.
type series struct {
	labels labels.Labels
	// reserved is set for a series with a name and component of the collector's metrics.
	reserved bool
	// seen is the last text in which the series appeared, and taken the last of which a
	// sample was kept; t is the explicit timestamp of that sample, or 0.
	seen, taken uint64
	t           int64
}

// Exposition is a converted text.
type Exposition struct {
	Samples  []collectors.Sample
	Families []collectors.Desc
	// Dropped counts samples that repeat a series, and Reserved those with reserved names.
	Dropped, Reserved int
}

// New returns a parser with an empty cache.
func New(o Options) *Parser {
	return &Parser{Options: o, byText: make(map[string]*seriesText), byHash: make(map[uint64]*series)}
}

// Close empties the cache and returns its memory.
func (p *Parser) Close() {
	p.texts += cacheTexts
	p.evict()
	p.Memory.Add(-p.held)
	p.held = 0
}

// Parse converts one text. A mistake in it, or an exceeded limit, fails the whole text; the
// error then has a Reason, or wraps budget.ErrExceeded or the cause of ctx's end. at is the
// current time, which replaces later timestamps.
func (p *Parser) Parse(ctx context.Context, body []byte, contentType string, at time.Time) (Exposition, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != "text/plain" && media != openMetrics {
		return Exposition{}, collectors.Errorf(ReasonProtocol, "answer has the content type %.100q: expected text/plain or %s", contentType, openMetrics)
	}
	// The parser treats a NUL byte between two tokens as the end of the answer, and would lose
	// the rest.
	if bytes.IndexByte(body, 0) >= 0 {
		return Exposition{}, collectors.Errorf(ReasonProtocol, "parse answer: it contains a NUL byte")
	}
	text, err := textparse.New(body, contentType, nil, textparse.ParserOptions{})
	if err != nil {
		return Exposition{}, collectors.Errorf(ReasonProtocol, "read content type: %w", err)
	}
	p.texts++
	p.Memory.Add(-p.held)
	p.held = 0
	defer p.evict()
	r := reading{
		Parser: p, text: text, now: at.UnixMilli(),
		families: families{openMetrics: media == openMetrics, limit: p.SampleLimit, charge: p.charge},
	}
	for n := 0; ; n++ {
		if n%contextCheck == 0 && ctx.Err() != nil {
			return Exposition{}, fmt.Errorf("parse answer: %w", ctx.Err())
		}
		entry, err := text.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Exposition{}, collectors.Errorf(ReasonProtocol, "parse answer: %w", err)
		}
		if err := r.entry(entry); err != nil {
			return Exposition{}, err
		}
	}
	r.families.collect(&r.Exposition)
	return r.Exposition, nil
}

// evict removes what has not appeared in cacheTexts texts.
func (p *Parser) evict() {
	for text, t := range p.byText {
		if p.texts-t.seen >= cacheTexts {
			delete(p.byText, text)
			p.Memory.Add(-textBytes(len(text)))
		}
	}
	for hash, s := range p.byHash {
		if p.texts-s.seen >= cacheTexts {
			delete(p.byHash, hash)
			p.Memory.Add(-s.bytes())
		}
	}
}

// reading is the state of parsing one text.
type reading struct {
	*Parser
	Exposition
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
		r.Reserved++
		return nil
	}
	if len(r.Samples) == r.SampleLimit {
		return collectors.Errorf(ReasonTooManySamples, "more samples than sample_limit, %d", r.SampleLimit)
	}
	cached := r.byText[string(text)]
	if cached == nil {
		if err := r.Memory.Grow(textBytes(len(text))); err != nil {
			return err
		}
		s, err := r.newSeries()
		if err != nil {
			r.Memory.Add(-textBytes(len(text)))
			return err
		}
		cached = &seriesText{series: s}
		r.byText[string(text)] = cached
	}
	cached.seen = r.texts

	t := r.time(timestamp)
	s := cached.series
	s.seen = r.texts
	again := s.taken == r.texts
	if err := r.checkStrict(s.labels, timestamp != nil, again); err != nil {
		return err
	}
	if s.reserved || again && (t == 0 || s.t == 0 || t <= s.t) {
		r.Dropped++
		return nil
	}
	if len(r.Samples)%sampleChunk == 0 {
		if err := r.charge(sampleChunk * sampleBytes); err != nil {
			return err
		}
	}
	s.taken, s.t = r.texts, t
	r.Samples = append(r.Samples, collectors.Sample{Labels: s.labels, Value: value, T: t})
	r.families.used(s.labels)
	return nil
}

// time returns the timestamp of a sample, 0 for none: at most now.
func (r *reading) time(written *int64) int64 {
	if written == nil || !r.HonorTimestamps {
		return 0
	}
	t := min(*written, r.now)
	if t < 0 { // before 1970: a value that overflowed
		return r.now
	}
	return max(t, 1) // 0 is a sample without a timestamp
}

// checkStrict returns the mistake of a sample that only a strict parser rejects.
func (r *reading) checkStrict(set labels.Labels, timestamp, again bool) error {
	switch name := set.Get(model.MetricNameLabel); {
	case !r.Strict:
		return nil
	case timestamp:
		return collectors.Errorf(ReasonTimestamp, "series of %.50q has a timestamp: expected none", name)
	case again:
		return collectors.Errorf(ReasonDuplicate, "a series of %.50q is there twice: expected each once", name)
	}
	return nil
}

// newSeries returns the current series of the parser, with its labels.
func (r *reading) newSeries() (*series, error) {
	var written labels.Labels
	r.text.Labels(&written)
	if name, twice := written.HasDuplicateLabelNames(); twice {
		return nil, collectors.Errorf(ReasonProtocol, "series of %.50q has the label %.50q twice", written.Get(model.MetricNameLabel), name)
	}
	builder := labels.NewBuilder(written)
	if own := written.Get(componentLabel); own == "" || !r.HonorLabels {
		builder.Set(componentLabel, r.Component)
		if own != "" {
			builder.Set(exportedLabel(written), own)
		}
	}
	set := builder.Labels()
	if !set.IsValid(model.UTF8Validation) {
		return nil, collectors.Errorf(ReasonProtocol, "series of %.50q has an invalid name or label name", set.Get(model.MetricNameLabel))
	}
	if err := r.checkLabels(set); err != nil {
		return nil, err
	}
	hash := set.Hash()
	s := r.byHash[hash]
	if s == nil || !labels.Equal(s.labels, set) {
		replaced := s // another series with the same hash
		s = &series{labels: set, reserved: r.isReserved(set)}
		if err := r.Memory.Grow(s.bytes()); err != nil {
			return nil, err
		}
		if replaced != nil {
			r.Memory.Add(-replaced.bytes())
		}
		r.byHash[hash] = s
	}
	return s, nil
}

// checkLabels checks a series against the limits.
func (r *reading) checkLabels(set labels.Labels) error {
	name := set.Get(model.MetricNameLabel)
	if n := set.Len(); n > r.LabelLimit {
		return collectors.Errorf(ReasonLabelLimit, "series of %.50q has %d labels: label_limit is %d", name, n, r.LabelLimit)
	}
	return set.Validate(func(l labels.Label) error {
		if n := max(len(l.Name), len(l.Value)); n > r.LengthLimit {
			return collectors.Errorf(ReasonLabelLimit, "label %.50q of %.50q has %d bytes: label_value_length_limit is %d", l.Name, name, n, r.LengthLimit)
		}
		return nil
	})
}

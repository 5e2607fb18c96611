package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// maxAhead is how far in the future a sample may lie, as in Prometheus.
	maxAhead = 10 * time.Minute
	// maxHelp is the length in bytes at which a scraped help text is cut.
	maxHelp = 512
	// cacheRounds is for how many scrapes a series that does not appear is remembered.
	cacheRounds = 2
	// contextCheck is after how many entries the deadline is looked at.
	contextCheck = 1024
)

const openMetrics = "application/openmetrics-text"

// seriesParser turns an exposition into samples. It remembers the labels of each
// series by its text, so that a series that was there before costs no new labels.
// It is not safe for concurrent use.
type seriesParser struct {
	component       string
	keep            *regexp.Regexp // nil keeps all
	honorTimestamps bool

	sampleLimit, labelLimit, lengthLimit int

	round  uint64
	byText map[string]*seriesText
	// byHash finds a series that is written in two ways, such as with its labels
	// in another order.
	byHash map[uint64]*series
}

// seriesText is one way in which a series is written.
type seriesText struct {
	series *series
	// seen is the last round in which the text appeared.
	seen uint64
}

// series is one set of labels.
type series struct {
	labels labels.Labels
	// own is set for a series that would pass for one of the collector's own.
	own bool
	// seen is the last round in which the series appeared, and taken the last in
	// which a sample was taken; t is that sample's own timestamp.
	seen, taken uint64
	t           int64
}

// exposition is what one answer holds.
type exposition struct {
	samples  []collectors.Sample
	families []collectors.Desc
	dropped  int
}

// parse reads one answer. Whatever is wrong with it, or beyond a limit, fails it as
// a whole. at is the present, against which samples of the future are held.
func (p *seriesParser) parse(ctx context.Context, body []byte, contentType string, at time.Time) (exposition, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != "text/plain" && media != openMetrics {
		return exposition{}, collectors.Errorf(remote.ReasonProtocol, "answer has the content type %.100q: expected text/plain or %s", contentType, openMetrics)
	}
	// The parser takes a NUL byte between two tokens for the end of the answer and
	// would lose what follows.
	if bytes.IndexByte(body, 0) >= 0 {
		return exposition{}, collectors.Errorf(remote.ReasonProtocol, "parse answer: there is a NUL byte in it")
	}
	text, err := textparse.New(body, contentType, nil, textparse.ParserOptions{})
	if err != nil {
		return exposition{}, collectors.Errorf(remote.ReasonProtocol, "read content type: %w", err)
	}
	p.round++
	defer p.evict()
	r := reading{
		seriesParser: p, text: text, latest: at.Add(maxAhead).UnixMilli(),
		families: families{openMetrics: media == openMetrics, limit: p.sampleLimit},
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

// evict forgets what has not appeared for some rounds.
func (p *seriesParser) evict() {
	for text, t := range p.byText {
		if p.round-t.seen >= cacheRounds {
			delete(p.byText, text)
		}
	}
	for hash, s := range p.byHash {
		if p.round-s.seen >= cacheRounds {
			delete(p.byHash, hash)
		}
	}
}

// reading is the parser at work on one answer.
type reading struct {
	*seriesParser
	exposition
	families families
	text     textparse.Parser
	latest   int64
	// name is the last metric that was held against keep, and kept the outcome.
	name []byte
	kept bool
}

// entry takes one entry of the exposition.
func (r *reading) entry(entry textparse.Entry) error {
	switch entry {
	case textparse.EntryHelp:
		name, help := r.text.Help()
		r.families.help(name, help)
	case textparse.EntryType:
		name, kind := r.text.Type()
		r.families.kind(name, kind)
	case textparse.EntrySeries:
		return r.sample()
	}
	return nil
}

// sample takes the series that the parser stands at.
func (r *reading) sample() error {
	text, timestamp, value := r.text.Series()
	if r.keep != nil && !r.keeps(text) {
		return nil
	}
	if len(r.samples) == r.sampleLimit {
		return collectors.Errorf(reasonTooManySamples, "more samples than sample_limit, %d", r.sampleLimit)
	}
	known := r.byText[string(text)]
	if known == nil {
		s, err := r.newSeries()
		if err != nil {
			return err
		}
		known = &seriesText{series: s}
		r.byText[string(text)] = known
	}
	known.seen = r.round

	var t int64
	if timestamp != nil && r.honorTimestamps {
		t = *timestamp
	}
	s := known.series
	s.seen = r.round
	again := s.taken == r.round
	if s.own || t > r.latest || again && (t == 0 || s.t == 0 || t <= s.t) {
		r.dropped++
		return nil
	}
	s.taken, s.t = r.round, t
	r.samples = append(r.samples, collectors.Sample{Labels: s.labels, Value: value, T: t})
	r.families.used(s.labels)
	return nil
}

// newSeries makes the labels of the series that the parser stands at.
func (r *reading) newSeries() (*series, error) {
	var written labels.Labels
	r.text.Labels(&written)
	if name, twice := written.HasDuplicateLabelNames(); twice {
		return nil, collectors.Errorf(remote.ReasonProtocol, "series of %.50q has the label %.50q twice", written.Get(model.MetricNameLabel), name)
	}
	builder := labels.NewBuilder(written)
	if written.Get("component") == "" {
		builder.Set("component", r.component)
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
		s = &series{labels: set, own: r.isOwn(set)}
		r.byHash[hash] = s
	}
	return s, nil
}

// checkLabels holds a series against the limits.
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

// isOwn says whether a scraped series would pass for one of this collector's own.
func (r *reading) isOwn(set labels.Labels) bool {
	return strings.HasPrefix(set.Get(model.MetricNameLabel), "vitals_scrape_") && set.Get("component") == r.component
}

// keeps says whether the metric of a series is kept. The samples of a metric follow
// each other, so the last outcome is remembered.
func (r *reading) keeps(text []byte) bool {
	name := text
	if end := bytes.IndexAny(text, "{ \t"); end > 0 {
		name = text[:end]
	} else if end == 0 {
		// The name is quoted, inside the braces.
		var written labels.Labels
		r.text.Labels(&written)
		name = []byte(written.Get(model.MetricNameLabel))
	}
	if !bytes.Equal(name, r.name) {
		r.name, r.kept = name, r.keep.Match(name)
	}
	return r.kept
}

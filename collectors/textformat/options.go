package textformat

import (
	"regexp"

	"github.com/vitals-health/vitals/internal/budget"
)

// The content types of the text format and of OpenMetrics.
const (
	ContentType = "text/plain; version=0.0.4"
	openMetrics = "application/openmetrics-text"
)

// Reason is why a text could not be converted. The set is closed, because it becomes a label.
type Reason string

// The reasons. ReasonTimestamp and ReasonDuplicate exist only with Options.Strict.
const (
	ReasonProtocol       Reason = "protocol"
	ReasonTooManySamples Reason = "too_many_samples"
	ReasonLabelLimit     Reason = "label_limit"
	ReasonTimestamp      Reason = "timestamp"
	ReasonDuplicate      Reason = "duplicate"
)

// Options are the settings of a Parser.
type Options struct {
	// Component is the value of the label component that every series gets.
	Component string
	// Own is the prefix of the collector's own metrics. A series with such a name is dropped
	// if it also has the collector's Component. Empty means that there is no such metric.
	Own string
	// Keep matches the names of the metrics to keep; nil keeps all.
	Keep *regexp.Regexp
	// HonorTimestamps keeps the timestamps of samples, HonorLabels the label component of
	// series, and HonorVitals the metrics whose names begin with "vitals_".
	HonorTimestamps, HonorLabels, HonorVitals bool
	// Strict makes a timestamp and a repeated series mistakes of the whole text.
	Strict bool
	// SampleLimit bounds the samples that are kept, LabelLimit the labels of a series with
	// those that it gets, LengthLimit the bytes of a label's name or value. All are required.
	SampleLimit, LabelLimit, LengthLimit int
	// Memory is charged for the cached texts and series, and for the result of the last Parse.
	// Nil has no limit.
	Memory *budget.Account
}

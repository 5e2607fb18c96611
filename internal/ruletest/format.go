package ruletest

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// rawFile is a test file as written. The additions to promtool's format come last in each
// type.
type rawFile struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	GroupEvalOrder     []string       `yaml:"group_eval_order"`
	FuzzyCompare       bool           `yaml:"fuzzy_compare"`
	Tests              []rawTest      `yaml:"tests"`

	States     map[string]rawState `yaml:"states"`
	StateLabel string              `yaml:"state_label"`
}

type rawState struct {
	NoData  string `yaml:"no_data"`
	AtStart string `yaml:"at_start"`
}

type rawTest struct {
	Name           string            `yaml:"name"`
	Interval       model.Duration    `yaml:"interval"`
	InputSeries    []rawSeries       `yaml:"input_series"`
	AlertRuleTest  []rawAlertTest    `yaml:"alert_rule_test"`
	PromqlExprTest []rawExprTest     `yaml:"promql_expr_test"`
	ExternalLabels map[string]string `yaml:"external_labels"`
	ExternalURL    string            `yaml:"external_url"`
	StartTimestamp timestamp         `yaml:"start_timestamp"`

	StateTest []rawStateTest   `yaml:"state_test"`
	Restarts  []model.Duration `yaml:"restarts"`
}

type rawSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type rawAlertTest struct {
	EvalTime  model.Duration `yaml:"eval_time"`
	Alertname string         `yaml:"alertname"`
	ExpAlerts []rawAlert     `yaml:"exp_alerts"`
}

type rawAlert struct {
	ExpLabels      map[string]string `yaml:"exp_labels"`
	ExpAnnotations map[string]string `yaml:"exp_annotations"`
}

type rawExprTest struct {
	Expr       string         `yaml:"expr"`
	EvalTime   model.Duration `yaml:"eval_time"`
	ExpSamples []rawSample    `yaml:"exp_samples"`
}

type rawSample struct {
	Labels    string  `yaml:"labels"`
	Value     float64 `yaml:"value"`
	Histogram string  `yaml:"histogram"`
}

type rawStateTest struct {
	EvalTime model.Duration    `yaml:"eval_time"`
	State    string            `yaml:"state"`
	Verdict  string            `yaml:"verdict"`
	Deciding []string          `yaml:"deciding"`
	Reason   *string           `yaml:"reason"`
	Unknown  []string          `yaml:"unknown"`
	Rules    map[string]string `yaml:"rules"`
}

// timestamp is the start of a test: seconds since the epoch or a time in RFC 3339.
type timestamp struct{ time.Time }

// Expected returns the expected form of a timestamp.
func (timestamp) Expected() string {
	return "seconds since the epoch or a time such as 2024-01-01T00:00:00Z"
}

// UnmarshalYAML reads the text of a scalar of any YAML type.
func (t *timestamp) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err != nil {
		return err
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(seconds) && math.Abs(seconds) < 1<<33 {
		whole, part := math.Modf(seconds)
		t.Time = time.Unix(int64(whole), int64(part*float64(time.Second))).UTC()
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("%q is not a time", text)
	}
	t.Time = at
	return nil
}

package prometheus

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// maxWarnings is how many warnings of an answer are kept for the note.
const maxWarnings = 3

// answer is the result of a query that succeeded.
type answer struct {
	series []series
	// warnings are the first of the server's, and count is the number of all.
	warnings []string
	count    int
}

type series struct {
	labels map[string]string
	value  float64
}

// message is the body of an answer.
// Source: https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview
type message struct {
	Status    string
	ErrorType string
	Error     string
	Warnings  []string
	// IsPartial is set by a cluster of VictoriaMetrics without all of its storage.
	IsPartial bool
	Data      struct {
		ResultType string
		Result     json.RawMessage
	}
}

// parseAnswer reads the body of an answer with a status of HTTP.
func parseAnswer(status int, body []byte) (answer, error) {
	var m message
	err := json.Unmarshal(body, &m)
	switch {
	case m.Status == "error":
		return answer{}, collectors.Errorf(reasonOfError(status, m.ErrorType), "the server reports %s: %s", m.ErrorType, m.Error)
	case status != http.StatusOK:
		return answer{}, collectors.Errorf(reasonOfStatus(status), "answer has status %d: expected 200", status)
	case err != nil:
		return answer{}, collectors.Errorf(remote.ReasonProtocol, "the answer is not JSON of the API: %w", err)
	case m.Status != "success":
		return answer{}, collectors.Errorf(remote.ReasonProtocol, "the answer has the status %.32q: expected \"success\" of the API", m.Status)
	}
	if m.IsPartial {
		m.Warnings = append([]string{"partial response"}, m.Warnings...)
	}
	a := answer{warnings: m.Warnings[:min(len(m.Warnings), maxWarnings)], count: len(m.Warnings)}
	a.series, err = parseResult(m.Data.ResultType, m.Data.Result)
	return a, err
}

// reasonOfError returns the reason of an error of the API with a status of HTTP.
func reasonOfError(status int, errorType string) remote.Reason {
	switch errorType {
	case "timeout", "canceled":
		return remote.ReasonTimeout
	case "bad_data":
		return remote.ReasonClientError
	}
	if status >= http.StatusOK && status < http.StatusMultipleChoices {
		return remote.ReasonServerError
	}
	return reasonOfStatus(status)
}

// reasonOfStatus returns the reason of a status that is not expected.
func reasonOfStatus(status int) remote.Reason {
	switch status {
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return remote.ReasonTimeout
	}
	if reason := remote.ReasonOfStatus(status); reason != "" {
		return reason
	}
	return remote.ReasonProtocol
}

// parseResult reads a vector or a scalar.
func parseResult(kind string, data []byte) ([]series, error) {
	switch kind {
	case "scalar":
		value, err := parsePoint(data)
		return []series{{value: value}}, err
	case "vector":
	case "matrix", "string":
		return nil, collectors.Errorf(query.ReasonNotNumber, "the result is a %s: expected a vector or a scalar", kind)
	default:
		return nil, collectors.Errorf(remote.ReasonProtocol, "the result is of type %.32q: expected a vector or a scalar", kind)
	}
	var vector []struct {
		Metric           map[string]string
		Value, Histogram json.RawMessage
	}
	if err := json.Unmarshal(data, &vector); err != nil {
		return nil, collectors.Errorf(remote.ReasonProtocol, "read vector: %w", err)
	}
	var all []series
	for _, v := range vector {
		if v.Value == nil && v.Histogram != nil {
			return nil, collectors.Errorf(query.ReasonNotNumber, "a series is a histogram: expected numbers, such as those of histogram_quantile")
		}
		value, err := parsePoint(v.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, series{v.Metric, value})
	}
	return all, nil
}

// parsePoint reads the number of a pair of a time and a number. The number is a text, because JSON
// has no NaN.
func parsePoint(data []byte) (float64, error) {
	var pair []json.RawMessage
	var text string
	err := json.Unmarshal(data, &pair)
	if err == nil && len(pair) != 2 {
		err = errors.New("expected a time and a number")
	}
	if err == nil {
		err = json.Unmarshal(pair[1], &text)
	}
	if err != nil {
		return 0, collectors.Errorf(remote.ReasonProtocol, "read value: %w", err)
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, collectors.Errorf(query.ReasonNotNumber, "the value is %.32q: expected a number", text)
	}
	return value, nil
}

package http

import (
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// headerProblems returns the mistakes in the headers of the request.
func (c *Config) headerProblems() []collectors.Problem {
	var problems []collectors.Problem
	if remote.InvalidHeader(c.UserAgent) {
		problems = append(problems, collectors.Problem{Path: "user_agent", Text: "expected a value without control characters"})
	}
	headers := remote.Headers{Values: c.Headers, Files: c.HeaderFiles}
	return append(problems, headers.Problems(c.BasicAuth != nil || c.BearerTokenFile != "")...)
}

// Package evidence reads expressions for what they need to be true evidence: the series that
// must be there, and the metrics that may be a cause.
package evidence

// Package syntax reads parsed expressions: their selectors, matchers, operands and literals. It
// has neither rules nor the metrics that exist.
package syntax

// Package rulecheck reads rule files and manifests and checks them against the metrics
// that a configuration collects.
package rulecheck

// Package grpc calls the health service of a gRPC server.
package grpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// collector is a collector of the kind grpc.
type collector struct {
	name    string
	config  Config
	address address
	note    string
	// hide is that of Env.
	hide func(...string)
}

// Collect calls Check once over a new connection.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	result := call{config: &c.config, address: c.address, hide: c.hide}
	start := time.Now()
	err := result.do(ctx)
	took := time.Since(start)
	if !result.answered {
		took = 0
	}
	reason := remote.ReasonUntil(ctx, err)
	var b collectors.Batch
	remote.AddDependency(&b, c.name, took, reason)
	if result.serving != "" {
		for _, status := range servings() {
			b.Set(servingMetric, collectors.Number(status == result.serving), c.name, string(status))
		}
	}
	if result.serving != "" || result.code != codeOK {
		b.Set(statusCodeMetric, float64(result.code), c.name)
	}
	if until := remote.ExpiryOfUnverified(err); !until.IsZero() {
		result.expiry = until
	}
	if !result.expiry.IsZero() {
		b.Set(remote.CertificateExpiryMetric, float64(result.expiry.Unix()), c.name)
	}
	what := "grpc " + c.config.Address
	if c.config.Service != "" {
		what += " " + c.config.Service
	}
	if err == nil {
		c.note = text.Short(what+" "+strings.ToUpper(string(result.serving)), collectors.MaxNote)
		return b.Samples, nil
	}
	message := redact.Values(err.Error(), result.secrets)
	c.note = text.Short(fmt.Sprintf("%s %s: %s", what, reason, message), collectors.MaxNote)
	return b.Samples, errors.New(text.Short("check "+what+": "+message, collectors.MaxReason))
}

// Describe lists the metrics that Collect exports.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(discovery.With(defs())) }

// Note returns the status of the last call, or the reason of the failure.
func (c *collector) Note() string { return c.note }

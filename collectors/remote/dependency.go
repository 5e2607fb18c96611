// Package remote has what the clients of remote servers share: the metrics and reasons of a
// dependency, TLS and credentials, bounded connections, and the expiry of certificates.
package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// The metrics of every collector that measures a dependency.
var (
	dependencyUpMetric      = collectors.NewGauge("vitals_dependency_up", "Whether the dependency did what the workload needs of it (1) or not (0).", "dependency")
	dependencyLatencyMetric = collectors.NewGauge("vitals_dependency_latency_seconds", "How long the dependency took to answer the last check that it answered.", "dependency")
	dependencyFailureMetric = collectors.NewGauge("vitals_dependency_failure", "Why the last check failed: 1 for that reason, 0 for all others.", "dependency", "reason")
)

// Reason is the class of a failure. The set is closed, because it is a label.
type Reason string

// The reasons of vitals_dependency_failure. The empty Reason means that nothing failed.
const (
	ReasonDNS             Reason = "dns"
	ReasonRefused         Reason = "refused"
	ReasonTimeout         Reason = "timeout"
	ReasonTLS             Reason = "tls"
	ReasonAuth            Reason = "auth"
	ReasonForbidden       Reason = "forbidden"
	ReasonNotFound        Reason = "not_found"
	ReasonClientError     Reason = "client_error"
	ReasonServerError     Reason = "server_error"
	ReasonProtocol        Reason = "protocol"
	ReasonMissingEndpoint Reason = "missing_endpoint"
)

// Reasons returns every reason, in the order in which they are exported.
func Reasons() []Reason {
	return []Reason{
		ReasonDNS, ReasonRefused, ReasonTimeout, ReasonTLS, ReasonAuth, ReasonForbidden,
		ReasonNotFound, ReasonClientError, ReasonServerError, ReasonProtocol, ReasonMissingEndpoint,
	}
}

// DependencyDefs returns the metrics that AddDependency sets.
func DependencyDefs() []*collectors.Def {
	return []*collectors.Def{
		dependencyUpMetric,
		dependencyLatencyMetric,
		dependencyFailureMetric,
	}
}

// DescribeDependency completes the entries of DependencyDefs in a catalog. own are the reasons that
// only this kind has.
func DescribeDependency(c *collectors.Catalog, own ...Reason) {
	c.Closed("reason", collectors.Texts(append(Reasons(), own...)), dependencyFailureMetric)
	c.Bools(dependencyUpMetric, dependencyFailureMetric)
	c.Vanishing(dependencyLatencyMetric) // absent without a response
}

// AddDependency appends the outcome of one check. An empty reason means up. A latency of zero
// or less was not measured and is omitted. own are the reasons that only this kind has.
func AddDependency(b *collectors.Batch, name string, latency time.Duration, reason Reason, own ...Reason) {
	b.Set(dependencyUpMetric, collectors.Number(reason == ""), name)
	if latency > 0 {
		b.Set(dependencyLatencyMetric, latency.Seconds(), name)
	}
	for _, r := range append(Reasons(), own...) {
		b.Set(dependencyFailureMetric, collectors.Number(r == reason), name, string(r))
	}
}

// ReasonOfStatus returns the reason of the status code of an HTTP response, and "" for 2xx and
// 3xx.
func ReasonOfStatus(code int) Reason {
	switch {
	case code >= 200 && code < 400:
		return ""
	case code == http.StatusUnauthorized:
		return ReasonAuth
	case code == http.StatusForbidden:
		return ReasonForbidden
	case code == http.StatusNotFound:
		return ReasonNotFound
	case code >= 400 && code < 500:
		return ReasonClientError
	case code >= 500:
		return ReasonServerError
	}
	return ReasonProtocol
}

// ReasonOfTransport returns the reason of a transport error, and "" for nil. Any other error,
// such as an empty, truncated or malformed response, is a protocol error.
func ReasonOfTransport(err error) Reason {
	var (
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
		op      *net.OpError
		network net.Error
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &dns):
		return ReasonDNS
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return ReasonTimeout
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &alert),
		errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &host),
		errors.Is(err, http.ErrSchemeMismatch),
		errors.As(err, &op) && op.Op == "remote error": // crypto/tls: the peer rejected the handshake
		return ReasonTLS
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, os.ErrNotExist):
		return ReasonRefused
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return ReasonProtocol
	case errors.As(err, &network) && network.Timeout():
		return ReasonTimeout
	}
	return ReasonProtocol
}

package http

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/text"
)

// answer is the result of one collection.
type answer struct {
	method string
	// url is that of the last request; nil before the first.
	url   *url.URL
	trace *trace

	// status is 0 without an answer. The fields from here to header are then not set.
	status    int
	version   float64
	tls       bool
	redirects int
	header    http.Header
	// expires is when the certificates of the connection expire; zero without TLS. It may be
	// set without an answer, for a server that is not trusted.
	expires time.Time

	// refused is where a redirect led that was not followed, because it is another host; else nil.
	refused *url.URL

	// complete reports whether the body was read to its end or to the limit.
	complete bool
	// size is how many bytes of the body were read, decompressed. body are these bytes, if an
	// expectation, body_output or the note needs them. unread is why they cannot be checked, or
	// "".
	size   int64
	body   []byte
	unread string
	// shown is what was read of the body, if the note has it.
	shown []byte

	results []result
}

// failure returns the error of an answer with a status that is not as expected. Its reason is
// that of the first expectation that is not met; the status comes first.
func failure(results []result, status int) error {
	var reason remote.Reason
	var texts []string
	for _, j := range results {
		if j.text == "" {
			continue
		}
		if texts = append(texts, j.text); len(texts) == 1 {
			reason = reasonOfExpectation(j.expectation, status)
		}
	}
	if texts == nil {
		return nil
	}
	return collectors.Errorf(reason, "%s", strings.Join(texts, "; "))
}

// record sets the fields that the header of an answer has.
func (a *answer) record(resp *http.Response) {
	a.status, a.header = resp.StatusCode, resp.Header
	a.version = float64(resp.ProtoMajor) + float64(resp.ProtoMinor)/10
	a.url = resp.Request.URL
	if resp.TLS != nil {
		a.tls = true
		a.expires = remote.CertificateExpiry(resp.TLS)
	}
}

// read reads the body up to the limit. A larger body is a failure only if there are
// expectations of it.
func (c *collector) read(ctx context.Context, resp *http.Response, a *answer) error {
	c.body.Reset()
	if a.status < http.StatusOK { // after 101, another protocol follows
		return nil
	}
	limit := int64(c.config.BodySizeLimit)
	packed := &io.LimitedReader{R: resp.Body, N: limit + 1}
	plain := io.Reader(packed)
	switch encoding := resp.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		unpacked, err := gzip.NewReader(packed)
		if errors.Is(err, io.EOF) {
			return nil // there is no body
		}
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		plain = unpacked
	default:
		a.unread = fmt.Sprintf("body has the encoding %q: expected gzip or none", text.Short(encoding, 40))
	}
	sink := io.Writer(io.Discard)
	if (c.expect.readsBody() || c.config.BodyOutput != "" || c.showsBody()) && a.unread == "" {
		sink = &c.body
		c.reading = c.bodies.Reader(ctx, plain, bodyFactor)
		plain = c.reading
	}
	var err error
	a.size, err = io.Copy(sink, io.LimitReader(plain, limit+1))
	if errors.Is(err, budget.ErrExceeded) && ctx.Err() == nil { // larger than there is room for
		a.unread = err.Error()
		return nil
	}
	if a.size > limit || packed.N == 0 {
		a.size = min(a.size, limit)
		a.unread = fmt.Sprintf("body is larger than body_size_limit, %s", c.config.BodySizeLimit)
		return nil
	}
	a.body = c.body.Bytes()
	return err
}

// reasonOfExpectation returns the reason of an expectation that is not met.
func reasonOfExpectation(expectation string, status int) remote.Reason {
	if expectation == expectStatus {
		if reason := remote.ReasonOfStatus(status); reason != "" {
			return reason
		}
	}
	return remote.ReasonProtocol
}

package http

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// answer is what one round has seen.
type answer struct {
	method string
	// url is the one that was asked last; nil while none is known.
	url   *url.URL
	trace *trace

	// status is 0 while there is no answer, and of what follows nothing is set then.
	status    int
	version   float64
	tls       bool
	redirects int
	header    http.Header
	// expires is when the certificates of a connection with TLS do; zero without any. It
	// may be known of a server that is not trusted, which gets no chance to answer.
	expires time.Time

	// complete is whether the body ended, or as much of it was read as is wanted.
	complete bool
	// size is how many bytes of it were read, decompressed, and body what they were where
	// something is expected of them. unread is why nothing can be said of it.
	size   int64
	body   []byte
	unread string

	judged []unmet
}

// unmet is the error of an answer that is not as expected. Its reason is that of the
// first expectation that is not met: the status, if that is one.
func (a *answer) unmet() error {
	var reason remote.Reason
	var texts []string
	for _, j := range a.judged {
		if j.text == "" {
			continue
		}
		if texts = append(texts, j.text); len(texts) == 1 {
			reason = reasonOfUnmet(j.expectation, a.status)
		}
	}
	if texts == nil {
		return nil
	}
	return collectors.Errorf(reason, "%s", strings.Join(texts, "; "))
}

// seen takes over what the header of an answer says.
func (a *answer) seen(resp *http.Response) {
	a.status, a.header = resp.StatusCode, resp.Header
	a.version = float64(resp.ProtoMajor) + float64(resp.ProtoMinor)/10
	a.url = resp.Request.URL
	if resp.TLS != nil {
		a.tls = true
		a.expires = remote.CertificateExpiry(resp.TLS)
	}
}

// read reads as much of the body as is wanted. That it is larger is only a mistake where
// something is expected of it.
func (h *check) read(resp *http.Response, a *answer) error {
	h.body.Reset()
	if a.status < http.StatusOK { // of 101, what follows is another protocol
		return nil
	}
	limit := int64(h.config.BodySizeLimit)
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
		a.unread = fmt.Sprintf("body has the encoding %q: expected gzip or none", collectors.OneLine(encoding, 40))
	}
	sink := io.Writer(io.Discard)
	if (h.expect.readsBody() || h.config.BodyOutput != "") && a.unread == "" {
		sink = &h.body
	}
	var err error
	a.size, err = io.Copy(sink, io.LimitReader(plain, limit+1))
	if a.size > limit || packed.N == 0 {
		a.size = min(a.size, limit)
		a.unread = fmt.Sprintf("body is larger than body_size_limit, %s", h.config.BodySizeLimit)
		return nil
	}
	a.body = h.body.Bytes()
	return err
}

// reasonOfUnmet is the reason of an answer that is not as expected.
func reasonOfUnmet(expectation string, status int) remote.Reason {
	if expectation == expectStatus {
		if reason := remote.ReasonOfStatus(status); reason != "" {
			return reason
		}
	}
	return remote.ReasonProtocol
}

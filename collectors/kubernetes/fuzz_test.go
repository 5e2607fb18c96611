package kubernetes

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"k8s.io/client-go/rest"

	"github.com/vitals-health/vitals/collectors/remote"
)

// checkFailure checks the error of a response: its reason is one of the closed set, and its
// text is bounded and has no control character.
func checkFailure(t *testing.T, err error) {
	t.Helper()
	if reason := remote.ReasonOf(err); !slices.Contains(remote.Reasons(), reason) {
		t.Errorf("error %q has the reason %q, want one of the closed set", err, reason)
	}
	if text := err.Error(); len(text) > 4096 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		t.Errorf("error %q, want one line of bounded length", text)
	}
}

// FuzzStream reads the events of a watch.
func FuzzStream(f *testing.F) {
	for _, events := range []string{
		`{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}` + "\n" + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}`,
		`{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version: 1 (2)"}}`,
		`{"type":"SYNC"}`, `{"type":1}`, `{"type":"DELETED"`, "", "null", "<html>", `{"type":"ERROR","object":{"code":-1,"message":"\u0000\u202e"}}`,
	} {
		f.Add([]byte(events))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStream(bytes.NewReader(data))
		for n := 0; ; n++ {
			e, err := s.next()
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				return
			case err != nil:
				checkFailure(t, err)
				return
			case !slices.Contains([]string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK"}, e.Type) || n > len(data):
				t.Fatalf("event %d of %d bytes = %+v, want a known type", n, len(data), e)
			}
		}
	})
}

// FuzzResponses parses what an API server returns to requests.
func FuzzResponses(f *testing.F) {
	for _, body := range []string{
		`{"kind":"SelfSubjectAccessReview","status":{"allowed":true}}`, `{"preferredVersion":{"version":"v1"}}`, `{"metadata":{"resourceVersion":"7"}}`,
		`{"kind":"PartialObjectMetadata","metadata":{"name":"a","resourceVersion":"7"}}`,
		`{"kind":"CustomResourceDefinition","status":{"conditions":[{"type":"Established","status":"True"}]}}`,
		"[+]ping ok\n[-]etcd failed: reason withheld\nhealthz check failed", `{"kind":"Status","message":"pods is forbidden"}`, `{"preferredVersion":{"version":"../x?a"}}`, "\xff\x00",
	} {
		f.Add(http.StatusForbidden, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		allowed, err := parseReview(body)
		if err != nil {
			checkFailure(t, err)
		}
		if allowed && (err != nil || !bytes.Contains(body, []byte("SelfSubjectAccessReview")) && !bytes.Contains(body, []byte(`\u`))) {
			t.Errorf("parseReview(%s) = true, %v, want an answer to the review", body, err)
		}
		if d, err := parseDefinition(body); err != nil {
			checkFailure(t, err)
		} else if d.established() && len(d.Status.Conditions) == 0 {
			t.Errorf("%s is established without a condition", body)
		}
		if version, err := parseGroup(body); err != nil {
			checkFailure(t, err)
		} else if version == "" || len(version) > 63 || strings.Trim(version, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("parseGroup(%s) = %q, want a part of a path", body, version)
		}
		if position, err := parsePosition(body); err != nil {
			checkFailure(t, err)
		} else if position == "" {
			t.Errorf("parsePosition(%s) is empty, want an error", body)
		}
		if status != http.StatusOK && status != http.StatusCreated {
			checkFailure(t, errorOfResponse(status, body))
		}
	})
}

// FuzzEndpoints reads the objects of a discovery, and lists of them.
func FuzzEndpoints(f *testing.F) {
	f.Add("pods", "http", []byte(aPod("a", "", running)))
	f.Add("endpointslices", "", []byte(aSlice("s", "IPv6", `{"addresses":["::ffff:10.0.0.1"]},`+aIsReady, httpPort)))
	f.Add("endpointslices", "80", []byte(aSlice("s", "FQDN", `{"addresses":["a.example"]}`, "null")))
	f.Add("endpoints", "1", []byte(`{"subsets":[{"addresses":[{"ip":"fe80::1%x"}],"notReadyAddresses":[{"ip":"fe80::1","targetRef":{"kind":"Pod","name":"\u0000"}}],"ports":[{"port":1}]}]}`))
	f.Add("pods", "1", []byte(`{"metadata":{"resourceVersion":"1","continue":"x","remainingItemCount":-1},"items":[{},null]}`))
	f.Fuzz(func(t *testing.T, name, port string, data []byte) {
		role, ok := roles()[name]
		if !ok || !validPort(port) {
			return
		}
		if _, err := role.page(data); err != nil {
			checkFailure(t, err)
		}
		m := &members{discovery: &Discovery{Role: name, Port: port}, role: role, changed: func() {}, held: held{listed: true, objects: map[string]member{}}}
		if err := m.change("ADDED", data); err != nil {
			checkFailure(t, err)
		}
		targets, _, _, _ := m.found()
		for i, target := range targets {
			if !validName(target.name) || i > 0 && targets[i-1].name >= target.name {
				t.Errorf("target %d is %q, want a valid name in the order of the names", i, target.name)
			}
			host, port, err := net.SplitHostPort(target.address())
			n, _ := strconv.Atoi(port)
			if _, ip := netip.ParseAddr(host); err != nil || n < 1 || n > 65535 || ip != nil && !validName(host) {
				t.Errorf("address %q, want HOST:PORT (%v)", target.address(), err)
			}
		}
		if err := m.change(eventDeleted, data); err == nil && m.held.endpoints != 0 {
			t.Errorf("%d endpoints remain of a deleted object", m.held.endpoints)
		}
	})
}

// FuzzCertificateExpiry reads a client certificate in PEM.
func FuzzCertificateExpiry(f *testing.F) {
	valid, err := os.ReadFile("testdata/client.pem")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	want := certificateExpiry(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: valid}})
	if want.IsZero() {
		f.Fatal("the certificate has no expiry")
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := certificateExpiry(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: data}})
		if block, _ := pem.Decode(data); block == nil && !got.IsZero() {
			t.Errorf("certificateExpiry(%q) = %s, want none without PEM", data, got)
		}
		first := append(bytes.Clone(valid), data...)
		if got := certificateExpiry(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: first}}); !got.Equal(want) {
			t.Errorf("certificateExpiry() before %q = %s, want that of the first certificate, %s", data, got, want)
		}
	})
}

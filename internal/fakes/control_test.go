package fakes_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/fakes"
)

func TestHandlerSwitchesFaults(t *testing.T) {
	l := start(t, fakes.Options{})
	const usage = `expected {"dependency": "...", "fault": "..."}`
	for _, c := range []struct {
		name, method, body string
		want               int
		text               string
	}{
		{"a fault", http.MethodPost, `{"dependency":"keystone","fault":"503"}`, 204, ""},
		{"health", http.MethodPost, `{"dependency":"keystone","fault":"none"}`, 204, ""},
		{"unknown fault", http.MethodPost, `{"dependency":"keystone","fault":"fire"}`, 400, "expected one of none, refuse"},
		{"unknown dependency", http.MethodPost, `{"dependency":"nova","fault":"500"}`, 400, "expected one of kubernetes, keystone, neutron"},
		{"missing fault", http.MethodPost, `{"dependency":"keystone"}`, 400, usage},
		{"unknown field", http.MethodPost, `{"dependency":"keystone","fault":"500","x":1}`, 400, usage},
		{"two values", http.MethodPost, `{"dependency":"keystone","fault":"500"} {}`, 400, usage},
		{"no JSON", http.MethodPost, `keystone=500`, 400, usage},
		{"empty", http.MethodPost, ``, 400, usage},
		{"too long", http.MethodPost, `{"dependency":"` + strings.Repeat("x", 10<<10) + `"}`, 400, usage},
		{"wrong method", http.MethodPut, `{}`, 405, ""},
		{"deletion", http.MethodDelete, ``, 405, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			fakes.Handler(l).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, "/demo/faults", strings.NewReader(c.body)))
			if w.Code != c.want || !strings.Contains(w.Body.String(), c.text) {
				t.Errorf("%s %s = %d %q, want %d with %q", c.method, c.body, w.Code, w.Body, c.want, c.text)
			}
			if w.Body.Len() > 512 {
				t.Errorf("body has %d bytes, want at most 512", w.Body.Len())
			}
		})
	}
}

func TestHandlerShowsFaults(t *testing.T) {
	l := start(t, fakes.Options{})
	l.set("keystone", "hang")
	w := httptest.NewRecorder()
	fakes.Handler(l).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/demo/faults", nil))
	var got []fakes.Dependency
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Faults(), got); diff != "" || w.Code != http.StatusOK {
		t.Errorf("GET = %d (-want +got):\n%s", w.Code, diff)
	}
}

func TestHandlerRefusesAnotherOrigin(t *testing.T) {
	l := start(t, fakes.Options{})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/demo/faults", strings.NewReader(`{"dependency":"keystone","fault":"500"}`))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	fakes.Handler(l).ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("POST from another site = %d, want 403", w.Code)
	}
}

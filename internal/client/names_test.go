package client_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/client"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name, body    string
		status        int
		states, rules []string
		err           string
	}{
		{
			"names", `{"states": [{"name": "ready"}, {"name": "alive"}], "rules": [{"name": "B", "state": "ready"}, {"name": "A"}, {"name": "B", "state": "alive"}]}`, 200,
			[]string{"alive", "ready"}, []string{"A", "B"}, "",
		},
		{"no rules", `{"states": [{"name": "ready"}]}`, 200, []string{"ready"}, nil, ""},
		{"another server", `<html>`, 200, nil, nil, "status 200 is not an answer of the daemon"},
		{"authentication", `{}`, 401, nil, nil, "status 401 is not an answer of the daemon"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/v1/status" {
					t.Errorf("path = %q, want that of the status", r.URL.Path)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer s.Close()
			daemon := client.Daemon{Address: s.URL}
			states, rules, err := daemon.Names(10 * time.Second)
			if !slices.Equal(states, tt.states) || !slices.Equal(rules, tt.rules) {
				t.Errorf("Names() = %q, %q, want %q, %q", states, rules, tt.states, tt.rules)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Names() = %v, want %q", err, tt.err)
			}
		})
	}
}

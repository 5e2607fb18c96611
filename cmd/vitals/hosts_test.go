package main

import (
	"os"
	"slices"
	"testing"

	"github.com/prometheus/exporter-toolkit/web"
)

func TestHosts(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	addresses := &web.FlagConfig{WebListenAddresses: &[]string{":8080", "vitals.example:80", "[::1]:80"}}
	for _, tt := range []struct {
		web       *web.FlagConfig
		flags     []string
		namespace string
		want      []string
	}{
		{nil, nil, "", []string{name}},
		{addresses, nil, "", []string{name, "vitals.example", "::1"}},
		{nil, []string{"vitals.example.org", ".example.net"}, "monitoring", []string{"vitals.example.org", ".example.net", ".monitoring", name}},
		{nil, nil, "dev", []string{name}}, // a domain of the public DNS
	} {
		t.Setenv("POD_NAMESPACE", tt.namespace)
		if got := (&program{web: tt.web, allowedHosts: tt.flags}).hosts(); !slices.Equal(got, tt.want) {
			t.Errorf("hosts() in %q = %q, want %q", tt.namespace, got, tt.want)
		}
	}
}

func TestAllowedHosts(t *testing.T) {
	var all allowedHosts
	for value, valid := range map[string]bool{"vitals.example.org": true, ".example.org": true, "*": true, "node1": true, "": false, "http://a.example": false, "a.example:8080": false, "*.a.example": false, ".": false} {
		if err := all.Set(value); (err == nil) != valid {
			t.Errorf("Set(%q) = %v, want an error: %t", value, err, !valid)
		}
	}
}

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
	for _, tt := range []struct {
		web  *web.FlagConfig
		want []string
	}{
		{nil, []string{name}},
		{&web.FlagConfig{WebListenAddresses: &[]string{":8080", "vitals.example:80", "[::1]:80"}}, []string{name, "vitals.example", "::1"}},
	} {
		if got := (&program{web: tt.web}).hosts(); !slices.Equal(got, tt.want) {
			t.Errorf("hosts() = %q, want %q", got, tt.want)
		}
	}
}

package config_test

import (
	"testing"

	"github.com/vitals-health/vitals/internal/config"
)

func TestReachable(t *testing.T) {
	for address, want := range map[string]struct {
		port   int
		remote bool
	}{
		"": {8080, true}, ":8082": {8082, true}, "0.0.0.0:1": {1, true}, "[::]:1": {1, true}, "app.example.org:80": {80, true},
		"127.0.0.1:8081": {8081, false}, "127.8.9.10:8081": {8081, false}, "[::1]:8081": {8081, false}, "localhost:8081": {8081, false},
		"127.0.0.1:0": {}, ":0": {}, ":65536": {}, "vsock://:80": {}, "nonsense": {},
	} {
		server := config.ServerConfig{ListenAddress: address}
		if port, remote := server.Reachable(); port != want.port || remote != want.remote {
			t.Errorf("Reachable() of %q = %d, %v, want %d, %v", address, port, remote, want.port, want.remote)
		}
	}
}

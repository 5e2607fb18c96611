package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// An image that is pushed to a registry is there for each platform.
func TestPush(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	s, all := example()
	for tag, some := range map[string][]contents{"both": all, "one": all[1:]} {
		var b bytes.Buffer
		if err := s.writeImage(&b, some); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), imageName)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		to := strings.TrimPrefix(server.URL, "http://") + "/vitals:" + tag
		if err := push(path, to); err != nil {
			t.Fatal(err)
		}
		reference, err := name.ParseReference(to)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range some {
			image, err := remote.Image(reference, remote.WithPlatform(c.platform.oci()))
			if err != nil {
				t.Fatal(err)
			}
			checkImage(t, image, c.platform.arch)
		}
	}
	if err := push(filepath.Join(t.TempDir(), "none"), "localhost:1/vitals:x"); err == nil {
		t.Error("push() of a file that does not exist succeeds, want an error")
	}
}

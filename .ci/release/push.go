package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pushTimeout bounds a push: the image has some 30 MB.
const pushTimeout = 15 * time.Minute

// push sends an image of writeImage to a registry, with the credentials of docker login.
func push(path, to string) error {
	reference, err := name.NewTag(to)
	if err != nil {
		return fmt.Errorf("-to: %w", err)
	}
	dir, err := os.MkdirTemp("", "vitals-push")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := unpack(path, dir); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		return fmt.Errorf("%s: expected an OCI layout with one image: %v", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), pushTimeout)
	defer cancel()
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	top := manifest.Manifests[0]
	if top.MediaType.IsImage() {
		image, err := outer.Image(top.Digest)
		if err != nil {
			return err
		}
		return remote.Write(reference, image, options...)
	}
	index, err := outer.ImageIndex(top.Digest)
	if err != nil {
		return err
	}
	return remote.WriteIndex(reference, index, options...)
}

// unpack writes the files of an archive to a directory.
func unpack(path, dir string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for r := tar.NewReader(f); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(header.Name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(header.Name, data, 0o600); err != nil {
			return err
		}
	}
}

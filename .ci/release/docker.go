package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// dockerManifest is the file in which Docker looks up the images of an archive
// (https://github.com/moby/docker-image-spec/blob/main/spec.md, "Combined Image JSON + Filesystem
// Changeset Format"). Docker without the containerd image store reads no index of an OCI layout
// (https://docs.docker.com/engine/storage/containerd/), and no archive of two platforms.
const dockerManifest = "manifest.json"

// dockerArchive adds to the OCI layout of one image what Docker reads: the same blobs under their names.
func dockerArchive(dir, reference string, image v1.Image) error {
	config, err := image.ConfigName()
	if err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	entry := tarball.Descriptor{Config: blob(config), RepoTags: []string{reference}}
	for _, l := range layers {
		digest, err := l.Digest()
		if err != nil {
			return err
		}
		entry.Layers = append(entry.Layers, blob(digest))
	}
	data, err := json.Marshal(tarball.Manifest{entry})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, dockerManifest), data, readable)
}

// blob is the path of a blob in an OCI layout
// (https://github.com/opencontainers/image-spec/blob/main/image-layout.md).
func blob(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }

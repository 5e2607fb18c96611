package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The annotations with the name of an image in an OCI layout: that of the specification
// (https://github.com/opencontainers/image-spec/blob/main/annotations.md), and that which
// containerd and Docker prefer.
const (
	nameAnnotation       = "org.opencontainers.image.ref.name"
	containerdAnnotation = "io.containerd.image.name"
)

// repository is the full form of the name "vitals" in manifests and commands: containerd and
// Docker look it up as such (https://pkg.go.dev/github.com/distribution/reference#ParseNormalizedNamed).
const repository = "docker.io/library/vitals"

// home is the address of the project.
const home = "https://github.com/vitals-health/vitals"

// contents are the files of an image of one platform: those of deploy/Dockerfile, and /tmp.
type contents struct {
	platform platform
	// shared rarely changes: certificates, licences, and a directory for the temporary files of "vitals
	// demo". It is a layer of its own.
	shared, programs []file
}

// contents builds the files of the image.
func (s source) contents(p platform) (contents, error) {
	c := contents{platform: p}
	certificates, err := authorities()
	if err != nil {
		return c, err
	}
	c.shared = []file{{"etc/ssl/certs/ca-certificates.crt", readable, certificates}, {"tmp/", temporary, nil}}
	licences, err := s.licences(p)
	if err != nil {
		return c, err
	}
	for _, l := range licences {
		c.shared = append(c.shared, file{"licenses/vitals/" + l.path, l.mode, l.data})
	}
	c.programs, err = s.programs(p)
	return c, err
}

// writeImage writes the image as a tar file with an OCI layout. One platform is an image, which any
// Docker loads, too. More are an index of them.
func (s source) writeImage(w io.Writer, all []contents) error {
	dir, err := os.MkdirTemp("", "vitals-image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := layout.WithAnnotations(map[string]string{
		nameAnnotation: s.reference(), containerdAnnotation: s.reference(),
	})
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, c := range all {
		image, err := s.image(c)
		if err != nil {
			return err
		}
		if len(all) == 1 {
			err = errors.Join(to.AppendImage(image, name, layout.WithPlatform(c.platform.oci())), dockerArchive(dir, s.reference(), image))
			return packed(w, dir, s.at, err)
		}
		platform := c.platform.oci()
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	annotated := mutate.Annotations(index, s.labels()).(v1.ImageIndex)
	return packed(w, dir, s.at, to.AppendIndex(annotated, name))
}

// oci is the platform in the words of an image.
func (p platform) oci() v1.Platform { return v1.Platform{OS: p.os, Architecture: p.arch} }

// image makes the image of one platform.
func (s source) image(c contents) (v1.Image, error) {
	created := v1.Time{Time: s.at}
	image, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{
		OS: c.platform.os, Architecture: c.platform.arch, Created: created, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: "65532:65532", Labels: s.labels(), ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Entrypoint: []string{"/vitals"}, Cmd: []string{"run", "--config.file=/etc/vitals/vitals.yml"},
		},
	})
	if err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	for _, part := range []struct {
		comment string
		files   []file
	}{{"certificate authorities and licences", c.shared}, {"programs", c.programs}} {
		data, err := tarOf(part.files, s.at)
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression))
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: created, CreatedBy: "make release", Comment: part.comment}})
		if err != nil {
			return nil, err
		}
	}
	return mutate.Annotations(image, s.labels()).(v1.Image), nil
}

// labels describe the image (https://github.com/opencontainers/image-spec/blob/main/annotations.md).
func (s source) labels() map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":         "Vitals",
		prefix + "description":   "Health evaluator: collectors measure, rules in Prometheus' format decide, probes show it",
		prefix + "url":           home,
		prefix + "source":        home,
		prefix + "documentation": home + "/tree/main/docs",
		prefix + "licenses":      "Apache-2.0",
		prefix + "version":       s.version,
		prefix + "revision":      s.revision,
		prefix + "created":       s.at.Format(time.RFC3339),
	}
}

// packed writes a directory as a tar file, unless an error came before.
func packed(w io.Writer, dir string, at time.Time, err error) error {
	if err != nil {
		return err
	}
	var files []file
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, file{filepath.ToSlash(name), readable, data})
		return err
	})
	if err != nil {
		return err
	}
	return writeTar(w, files, at)
}

// reference is the full name of the image: with the version, in which a tag has no plus sign,
// unless another tag is given.
func (s source) reference() string {
	return repository + ":" + cmp.Or(s.tag, strings.ReplaceAll(s.version, "+", "-"))
}

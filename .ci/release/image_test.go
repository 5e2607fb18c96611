package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// example is a source with contents that take no build.
func example() (source, []contents) {
	s := source{version: "1.2.3+a", revision: "0123456789abcdef", at: time.Unix(1_700_000_000, 0).UTC()}
	var all []contents
	for _, arch := range []string{"amd64", "arm64"} {
		all = append(all, contents{
			platform: platform{"linux", arch},
			shared:   []file{{"licenses/vitals/LICENSE", readable, []byte("a licence")}, {"etc/ssl/certs/ca-certificates.crt", readable, []byte("certificates")}},
			programs: []file{{"vitals", executable, []byte("vitals of " + arch)}, {"healthcheck", executable, []byte("healthcheck of " + arch)}},
		})
	}
	return s, all
}

// written returns the tar file of an image and the layout in it.
func written(t *testing.T, s source, all []contents) ([]byte, layout.Path) {
	t.Helper()
	var b bytes.Buffer
	if err := s.writeImage(&b, all); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, f := range untar(t, b.Bytes()) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), path
}

// untar returns the regular files of an archive. Every entry must be root's and have the time of
// the example.
func untar(t *testing.T, data []byte) map[string]file {
	t.Helper()
	found := map[string]file{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := r.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" || header.ModTime.Unix() != 1_700_000_000 {
			t.Errorf("%s is of %d:%d %q at %s, want 0:0 without a name at the source's time", header.Name, header.Uid, header.Gid, header.Uname, header.ModTime)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			found[header.Name] = file{header.Name, header.Mode, text}
		}
	}
}

func TestImageOfTwoPlatforms(t *testing.T) {
	s, all := example()
	_, path := written(t, s, all)
	outer, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	top, err := outer.IndexManifest()
	if err != nil || len(top.Manifests) != 1 {
		t.Fatalf("index.json has %v, %v, want one image", top, err)
	}
	for _, name := range []string{nameAnnotation, containerdAnnotation} {
		if got, want := top.Manifests[0].Annotations[name], "docker.io/library/vitals:1.2.3-a"; got != want {
			t.Errorf("annotation %s = %q, want %q", name, got, want)
		}
	}
	index, err := outer.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image, m.Platform.Architecture)
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(platforms, want) {
		t.Errorf("platforms = %q, want %q", platforms, want)
	}
}

// checkImage compares an image with the example's.
func checkImage(t *testing.T, image v1.Image, arch string) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	s, _ := example()
	want := v1.Config{
		User: "65532:65532", Entrypoint: []string{"/vitals"}, Cmd: []string{"run", "--config.file=/etc/vitals/vitals.yml"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Labels: s.labels(),
	}
	if diff := cmp.Diff(want, config.Config); diff != "" || config.Architecture != arch || config.OS != "linux" {
		t.Errorf("the configuration is of %s/%s, and differs (-want +got):\n%s", config.OS, config.Architecture, diff)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, l := range layers {
		r, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range untar(t, data) {
			if executes := f.mode == executable; executes != (name == "vitals" || name == "healthcheck") {
				t.Errorf("%s has mode %o", name, f.mode)
			}
			got[name] = string(f.data)
		}
	}
	files := map[string]string{
		"etc/ssl/certs/ca-certificates.crt": "certificates", "licenses/vitals/LICENSE": "a licence",
		"vitals": "vitals of " + arch, "healthcheck": "healthcheck of " + arch,
	}
	if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
}

func TestImageOfOnePlatform(t *testing.T) {
	s, all := example()
	_, path := written(t, s, all[:1])
	index, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || !manifest.Manifests[0].MediaType.IsImage() {
		t.Fatalf("index.json has %v, %v, want one image and no index", manifest, err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, image, "amd64")
}

// Docker finds the same image in the archive of one platform, and none in that of two.
func TestImageForDocker(t *testing.T) {
	s, all := example()
	data, _ := written(t, s, all[1:])
	tag, err := name.NewTag("vitals:1.2.3-a")
	if err != nil {
		t.Fatal(err)
	}
	image, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, &tag)
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, image, "arm64")
	if data, _ = written(t, s, all); len(untar(t, data)[dockerManifest].data) != 0 {
		t.Errorf("the archive of two platforms has a %s, want none", dockerManifest)
	}
}

func TestImageHasTheSameBytesTwice(t *testing.T) {
	s, all := example()
	one, _ := written(t, s, all)
	for i := range all {
		slices.Reverse(all[i].programs)
	}
	if two, _ := written(t, s, all); !bytes.Equal(one, two) {
		t.Error("the same contents in another order make other bytes, want the same")
	}
}

// An empty directory has its mode, and is there once.
func TestWriteTarOfADirectory(t *testing.T) {
	s, _ := example()
	data, err := tarOf([]file{{"tmp/", temporary, nil}, {"b/c", readable, nil}}, s.at)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o", header.Name, header.Mode))
	}
	if want := []string{"b/ 755", "b/c 644", "tmp/ 1777"}; !slices.Equal(got, want) {
		t.Errorf("the archive has %q, want %q", got, want)
	}
}

func TestAuthorities(t *testing.T) {
	one, err := authorities()
	if err != nil {
		t.Fatal(err)
	}
	two, err := authorities()
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("authorities() differ between two calls (%v)", err)
	}
	// Mozilla's list has had more than 100 for a decade.
	pool := x509.NewCertPool()
	if n := bytes.Count(one, []byte("BEGIN CERTIFICATE")); !pool.AppendCertsFromPEM(one) || n < 100 {
		t.Errorf("authorities() has %d certificates that a program can read, want at least 100", n)
	}
}

func TestParsePlatforms(t *testing.T) {
	got, err := parsePlatforms("linux/amd64,darwin/arm64")
	if want := []platform{{"linux", "amd64"}, {"darwin", "arm64"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("parsePlatforms() = %v, %v, want %v", got, err, want)
	}
	for _, list := range []string{"", "linux", "linux/", "linux/amd64,"} {
		if got, err := parsePlatforms(list); err == nil {
			t.Errorf("parsePlatforms(%q) = %v, want an error", list, got)
		}
	}
}

//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// The release after that of the other tests: its version, and the first line of its configuration
// and rules.
const (
	nextVersion = "1.2.4"
	nextComment = "# Of the next release.\n"
)

// workflowRepository is the name of the repository for the workflow.
const workflowRepository = "vitals-health/vitals"

// releasedByWorkflow is what the workflow of a tag has made of a clone.
type releasedByWorkflow struct {
	// dist has the files, and image is the name of the image in a registry.
	dist, image string
}

// runWorkflow runs the commands of the workflow of a release, in a clean clone with a tag. It leaves out
// what needs GitHub: the actions, and the publication of the files.
func runWorkflow(t *testing.T) releasedByWorkflow {
	t.Helper()
	tree, registry := taggedClone(t), startRegistry(t)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "../.github/workflows/release.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	var ran, published int
	for _, step := range workflow.Jobs["release"].Steps {
		if step.Run == "" {
			continue
		}
		if strings.HasPrefix(step.Run, "gh release create ") && strings.HasSuffix(step.Run, " dist/*") {
			published++
			continue
		}
		environment := []string{"GITHUB_REF_NAME=v" + nextVersion, "GITHUB_REPOSITORY=" + workflowRepository, "DOCKER_CONFIG=" + tree}
		for name, value := range step.Env {
			value = strings.ReplaceAll(value, "${{ vars.REGISTRY }}", registry)
			if strings.Contains(value, "${{") {
				t.Fatalf("%s of %q is %s, which this test cannot evaluate", name, step.Run, value)
			}
			environment = append(environment, name+"="+value)
		}
		command(t, tree, environment, "bash", "-e", "-c", step.Run) // as GitHub does without a key "shell"
		ran++
	}
	if ran != 2 || published != 1 {
		t.Errorf("the workflow has %d commands and %d publications of files, want 2 and 1", ran, published)
	}
	return releasedByWorkflow{filepath.Join(tree, "dist"), registry + "/" + workflowRepository + ":" + nextVersion}
}

// taggedClone is a copy of the tree with another configuration for packages, as a clone with a tag.
func taggedClone(t *testing.T) string {
	t.Helper()
	dir := copiedTree(t)
	for _, name := range []string{"vitals.yml", "rules.yml"} {
		path := filepath.Join(dir, "deploy/package", name)
		write(t, path, nextComment+read(t, path))
	}
	command(t, dir, nil, "sh", "-ec", `git init --quiet && git add --all
git -c user.name=e2e -c user.email=e2e@localhost commit --quiet --message=e2e && git tag "$1"`, "sh", "v"+nextVersion)
	return dir
}

// startRegistry starts Debian's registry, which is that of Docker, and returns its address.
func startRegistry(t *testing.T) string {
	t.Helper()
	dir, listen := shortDirectory(t, ""), address(t)
	config := filepath.Join(dir, "config.yml")
	write(t, config, fmt.Sprintf("version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %q, draintimeout: 1s}\n", dir, listen))
	p := launch(t, listen, cached(t, "docker/usr/bin/docker-registry", "release"), "serve", config)
	await(t, "the registry serves", time.Minute, func() error { return (daemon{p}).want("/v2/", http.StatusOK) })
	return listen
}

// hasFiles fails unless the workflow has made the files of a release for both platforms, under the version of the tag.
func (r releasedByWorkflow) hasFiles(t *testing.T) {
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	want := []string{"SHA256SUMS", "vitals-image.tar"}
	for arch, rpm := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		name := "vitals-" + nextVersion + ".linux-" + arch
		want = append(want, name+".tar.gz", name+".cdx.json", name+".image.tar",
			"vitals_"+nextVersion+"_"+arch+".deb", "vitals-"+nextVersion+"-1."+rpm+".rpm")
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the workflow publishes %q, want %q", got, want)
	}
	command(t, r.dist, nil, "sha256sum", "--check", "--strict", "SHA256SUMS")
}

// runsOnARM64 runs the programs for arm64 in an emulator of the processor: those of the archive, of the
// image in the registry, and of the image of one architecture.
func (r releasedByWorkflow) runsOnARM64(t *testing.T) {
	emulator := cached(t, "qemu-user/usr/bin/qemu-aarch64-static", "release")
	dir := shortDirectory(t, "")
	name := "vitals-" + nextVersion + ".linux-arm64"
	command(t, dir, nil, "tar", "--extract", "--strip-components=1", "--file="+filepath.Join(r.dist, name+".tar.gz"))
	p := newPodman(t)
	for _, args := range [][]string{
		{"pull", "--quiet", "--tls-verify=false", "--arch=arm64", r.image},
		{"create", "--name=pushed", "--arch=arm64", "--pull=never", r.image},
		{"cp", "pushed:/vitals", filepath.Join(dir, "vitals-pushed")},
		{"load", "--input=" + filepath.Join(r.dist, name+".image.tar")},
		{"create", "--name=loaded", "--arch=arm64", "--pull=never", "docker.io/library/vitals:" + nextVersion},
		{"cp", "loaded:/vitals", filepath.Join(dir, "vitals-loaded")},
	} {
		if _, err := p.run(args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"vitals", "vitals-pushed", "vitals-loaded"} {
		got := command(t, dir, nil, emulator, program, "version")
		if want := "vitals, version " + nextVersion + " "; !strings.HasPrefix(got, want) || !strings.Contains(got, "linux/arm64") {
			t.Errorf("%s version = %q, want %q first and linux/arm64", program, got, want)
		}
	}
	command(t, dir, nil, emulator, "vitals", "check", "config", "example/vitals.yml")
	listen, socket := address(t), filepath.Join(dir, "vitals.sock")
	d := daemon{launch(t, listen, emulator, filepath.Join(dir, "vitals"), "run", "--config.file="+filepath.Join(dir, "example/vitals.yml"),
		"--web.listen-address="+listen, "--web.unix-socket="+socket, "--web.shutdown-delay=0s")}
	await(t, "vitals for arm64 is ready", startsWithin, func() error { return d.want("/ready", http.StatusOK) })
	if got, want := command(t, dir, nil, emulator, "healthcheck", "--socket="+socket, "--timeout=20s"), "ok 0 ready"; !strings.HasPrefix(got, want) {
		t.Errorf("healthcheck = %q, want %q first", got, want)
	}
}

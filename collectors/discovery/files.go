package discovery

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/targets"
	"github.com/vitals-health/vitals/internal/blocking"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

const (
	// refresh is the time between two looks at the files. Their content is compared, which works
	// on every file system and with the symbolic links of Kubernetes' volumes.
	refresh = time.Second
	// patience is how long a look may last. A system call on a file system that hangs cannot be
	// interrupted.
	patience = 30 * time.Second
	// maxMatches bounds the files of all patterns.
	maxMatches = 1000
)

// files is a Source of targets in files with the format of Prometheus' file_sd_configs.
type files struct {
	patterns  []string
	collector string
	// read are the files of the last look, by path.
	read map[string]file
	look blocking.Call[bool]
	err  error
}

// file is the last content of a file.
type file struct {
	digest [sha256.Size]byte
	// targets are those of the last valid content.
	targets []targets.Target
	err     error
}

func newFiles(patterns []string, collector string) *files {
	return &files{patterns: patterns, collector: collector}
}

// Run implements targets.Source.
func (f *files) Run(ctx context.Context, found func([]targets.Target, error)) {
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	hung := false
	for {
		looking, cancel := context.WithTimeout(ctx, patience)
		changed, err := f.look.Do(looking, f.update)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !hung:
			found(nil, fmt.Errorf("the files were not read within %s", patience))
		case err == nil && (changed || hung):
			found(f.targets(), nil)
			if f.err != nil {
				found(nil, f.err)
			}
		}
		hung = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// targets returns those of all files. An error of one file keeps its last targets only: the others
// are up to date.
func (f *files) targets() []targets.Target {
	var all []targets.Target
	for _, path := range sortedPaths(f.read) {
		all = append(all, f.read[path].targets...)
	}
	return all
}

// update reads the files and reports whether there is a change.
func (f *files) update() bool {
	next, err := map[string]file{}, error(nil)
	changed := f.read == nil
	for _, path := range f.paths() {
		before, known := f.read[path]
		now := f.readFile(path, before)
		changed = changed || !known || now.digest != before.digest
		next[path] = now
		if now.err != nil && err == nil {
			err = now.err
		}
	}
	changed = changed || len(next) != len(f.read)
	f.read, f.err = next, err
	return changed
}

// paths returns the matches of all patterns. A path without a pattern is one of them, whether the
// file exists or not.
func (f *files) paths() []string {
	var all []string
	for _, pattern := range f.patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil || len(matches) == 0 && !strings.ContainsAny(pattern, `*?[\`) {
			matches = []string{pattern}
		}
		for _, m := range matches {
			if isTargetFile(m) {
				all = append(all, m)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxMatches)]
}

// readFile reads a file unless it has not changed.
func (f *files) readFile(path string, before file) file {
	data, err := remote.ReadClientFile(path)
	if err != nil {
		return file{sha256.Sum256([]byte("\x00" + err.Error())), before.targets, err}
	}
	now := file{digest: sha256.Sum256(data)}
	if now.digest == before.digest {
		return before
	}
	if now.targets, now.err = parse(path, data, f.collector); now.err != nil {
		now.targets = before.targets
	}
	return now
}

// targetGroup is an element of a file: addresses with the labels that they share.
type targetGroup struct {
	Targets []string          `yaml:"targets" json:"targets"`
	Labels  map[string]string `yaml:"labels" json:"labels"`
}

// nameLabel is the label that names a target. The others have no effect.
const nameLabel = "name"

// noAddress is the mistake of a target.
const noAddress = "no address: expected one, such as 10.0.0.5:5432"

// parse reads a file.
func parse(path string, data []byte, collector string) ([]targets.Target, error) {
	var groups []targetGroup
	mistake := func(place string) error { return fmt.Errorf("%s: %s: %s", path, place, noAddress) }
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty, expected a list of {targets, labels}, [] for none", path)
	}
	if strings.HasSuffix(path, ".json") {
		if err := parseJSON(data, &groups); err != nil {
			return nil, fmt.Errorf("%s: expected a list of {targets, labels}: %w", path, err)
		}
	} else {
		doc, mistakes := strictyaml.Decode(path, data, &groups)
		if len(mistakes) > 0 {
			return nil, mistakes[0]
		}
		mistake = func(place string) error { return doc.Errorf(place, noAddress) }
	}
	var all []targets.Target
	for i, g := range groups {
		prefix := cmp.Or(g.Labels[nameLabel], collector)
		for j, address := range g.Targets {
			if address == "" { // a kind may have a default address, which the file does not name
				return nil, mistake(fmt.Sprintf("[%d].targets[%d]", i, j))
			}
			t := targets.Target{Name: targets.Name(prefix, address), Address: address}
			if name := g.Labels[nameLabel]; name != "" && len(g.Targets) == 1 {
				t.Name = name
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// parseJSON reads JSON strictly.
func parseJSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one value")
	}
	return nil
}

// sortedPaths returns the paths of files in order.
func sortedPaths(read map[string]file) []string {
	paths := make([]string, 0, len(read))
	for path := range read {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

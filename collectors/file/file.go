// Package file measures a file: that it exists, its age, its permissions and whether its content
// is valid.
package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
)

// The formats in which the kind file can read a file.
const (
	formatYAML = "yaml"
	formatJSON = "json"
	formatINI  = "ini"
	// formatCrontab is a user's table as in crontab(5).
	formatCrontab = "crontab"
)

// keyedFormats are the formats whose contents have keys.
func keyedFormats() []string { return []string{formatYAML, formatJSON, formatINI} }

// Config configures the kind file: whether a file exists, its owner, its size and when it was
// last written. With a format, also whether the content is valid and has certain keys, and
// the time in it. Without a format the file is never opened.
type Config struct {
	// Path is absolute. A symbolic link is followed, as in a mounted ConfigMap.
	Path string `yaml:"path"`
	// Format is yaml, json, ini or crontab; if it is empty, the content is not read.
	Format string `yaml:"format,omitempty"`
	// Keys are paths into the content, see ParseKey. They are values of a label.
	Keys []string `yaml:"keys,omitempty"`
	// Epoch is the path of a key of a JSON file whose value is a time in seconds since
	// the epoch. It is the value of a label.
	Epoch string `yaml:"epoch,omitempty"`
	// AgeLimit is exported for rules that compare with it; zero exports none.
	AgeLimit model.Duration `yaml:"age_limit,omitempty"`
	// SizeLimit is the largest file that is read; 1MiB by default.
	SizeLimit collectors.Size `yaml:"size_limit"`
}

// SetDefaults sets what the block has previous it is decoded.
func (c *Config) SetDefaults() { c.SizeLimit = 1 << 20 }

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	if !filepath.IsAbs(c.Path) {
		problems = append(problems, collectors.Problem{Path: "path", Text: fmt.Sprintf("path %q: expected an absolute path", c.Path)})
	}
	if c.Format != "" && c.Format != formatCrontab && !slices.Contains(keyedFormats(), c.Format) {
		problems = append(problems, collectors.Problem{Path: "format", Text: fmt.Sprintf("format %q: expected yaml, json, ini or crontab", c.Format)})
	}
	if c.Format != "" && c.SizeLimit <= 0 {
		problems = append(problems, collectors.Problem{Path: "size_limit", Text: fmt.Sprintf("size_limit %s: expected more than 0B", c.SizeLimit)})
	}
	if len(c.Keys) > 0 && (c.Format == "" || c.Format == formatCrontab) {
		problems = append(problems, collectors.Problem{Path: "keys", Text: "keys without a format that has keys: expected format yaml, json or ini"})
	}
	if _, err := ParseKey(c.Epoch); c.Epoch != "" && err != nil {
		problems = append(problems, collectors.Problem{Path: "epoch", Text: err.Error()})
	}
	if c.Epoch != "" && c.Format != formatJSON {
		problems = append(problems, collectors.Problem{Path: "epoch", Text: "epoch of a file that is not JSON: expected format json"})
	}
	for i, text := range c.Keys {
		path := fmt.Sprintf("keys[%d]", i)
		key, err := ParseKey(text)
		switch {
		case err != nil:
			problems = append(problems, collectors.Problem{Path: path, Text: err.Error()})
		case c.Format == formatINI && len(key) != 2:
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("key %q: expected section.option for the format ini", text)})
		case slices.Index(c.Keys, text) < i:
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("key %q: expected each key once", text)})
		}
	}
	return problems
}

// External implements Kind: a file is on this host.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	f := &collector{name: env.Name, config: *c}
	for _, text := range c.Keys {
		key, err := ParseKey(text)
		if err != nil {
			return nil, err
		}
		f.keys = append(f.keys, key)
	}
	if c.Epoch != "" {
		key, err := ParseKey(c.Epoch)
		if err != nil {
			return nil, err
		}
		f.epoch = key
	}
	f.reader = reader{
		path: c.Path, content: c.Format != "", limit: int64(c.SizeLimit), stat: os.Stat, open: open,
		parse: f.parse, bodies: env.Bodies, factor: memoryFactor(c.Format),
	}
	return f, nil
}

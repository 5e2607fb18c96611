package collectors

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The formats in which the kind file can read a file.
const (
	formatYAML = "yaml"
	formatJSON = "json"
	formatINI  = "ini"
)

func fileFormats() []string { return []string{formatYAML, formatJSON, formatINI} }

// FileConfig configures the kind file: whether a file is there, whose it is, how
// large it is and when it was last written; and, where a format is set, whether it
// can be read in it and has certain keys. Without a format the file is never opened.
type FileConfig struct {
	// Path is absolute. A symbolic link is followed, as a mounted ConfigMap needs.
	Path string `yaml:"path"`
	// Format is yaml, json or ini; empty where the content does not matter.
	Format string `yaml:"format,omitempty"`
	// Keys are paths into the content, see parseFileKey. They become labels.
	Keys []string `yaml:"keys,omitempty"`
	// SizeLimit is the largest file that is read; 1MiB by default.
	SizeLimit Size `yaml:"size_limit"`
}

// SetDefaults sets what the block has before it is decoded.
func (c *FileConfig) SetDefaults() { c.SizeLimit = 1 << 20 }

// Problems implements Kind.
func (c *FileConfig) Problems() []Problem {
	var problems []Problem
	if !filepath.IsAbs(c.Path) {
		problems = append(problems, Problem{"path", fmt.Sprintf("path %q: expected an absolute path", c.Path)})
	}
	if c.Format != "" && !slices.Contains(fileFormats(), c.Format) {
		problems = append(problems, Problem{"format", fmt.Sprintf("format %q: expected yaml, json or ini", c.Format)})
	}
	if c.Format != "" && c.SizeLimit <= 0 {
		problems = append(problems, Problem{"size_limit", fmt.Sprintf("size_limit %s: expected more than 0B", c.SizeLimit)})
	}
	if len(c.Keys) > 0 && c.Format == "" {
		problems = append(problems, Problem{"keys", "keys without a format: expected format, too: yaml, json or ini"})
	}
	for i, text := range c.Keys {
		path := fmt.Sprintf("keys[%d]", i)
		key, err := parseFileKey(text)
		switch {
		case err != nil:
			problems = append(problems, Problem{path, err.Error()})
		case c.Format == formatINI && len(key) != 2:
			problems = append(problems, Problem{path, fmt.Sprintf("key %q: expected section.option, as the format is ini", text)})
		case slices.Index(c.Keys, text) < i:
			problems = append(problems, Problem{path, fmt.Sprintf("key %q: expected each key once", text)})
		}
	}
	return problems
}

// External implements Kind: a file is on this host.
func (c *FileConfig) External() bool { return false }

// Uses implements Kind.
func (c *FileConfig) Uses() []string { return nil }

// New implements Kind.
func (c *FileConfig) New(env Env) (Collector, error) {
	f := &file{name: env.Name, config: *c}
	for _, text := range c.Keys {
		key, err := parseFileKey(text)
		if err != nil {
			return nil, err
		}
		f.keys = append(f.keys, key)
	}
	f.look = fileLook{path: c.Path, read: c.Format != "", limit: int64(c.SizeLimit), stat: os.Stat, open: openWithoutWaiting}
	return f, nil
}

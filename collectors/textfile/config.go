// Package textfile reads files with metrics in the Prometheus text format, such as those that jobs
// of cron leave behind, and measures their age.
package textfile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/textformat"
	"github.com/vitals-health/vitals/internal/budget"
)

// Config configures the kind textfile.
type Config struct {
	// Path is the absolute path of the files. Its last element may be a pattern as in
	// path.Match, such as *.prom. Symbolic links are followed in the directory only.
	Path string `yaml:"path"`
	// Keep are regular expressions, anchored at both ends, for the names of the metrics to keep.
	// Without any, all are kept.
	Keep []string `yaml:"keep,omitempty"`
	// SizeLimit (1MiB) bounds the bytes of a file, FileLimit (50) the files, and SampleLimit (500)
	// the samples that are kept of a file.
	SizeLimit   collectors.Size `yaml:"size_limit"`
	FileLimit   int             `yaml:"file_limit"`
	SampleLimit int             `yaml:"sample_limit"`
}

// The bounds of a series: those that scrape has by default.
const (
	labelLimit  = 64
	lengthLimit = 2048
)

// SetDefaults sets the defaults of the block before it is decoded.
func (c *Config) SetDefaults() { c.SizeLimit, c.FileLimit, c.SampleLimit = 1<<20, 50, 500 }

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	problems := c.pathProblems()
	for i, expr := range c.Keep {
		if _, err := regexp.Compile(expr); err != nil {
			problems = append(problems, collectors.Problem{Path: fmt.Sprintf("keep[%d]", i), Text: fmt.Sprintf("keep %q: expected a regular expression: %v", expr, err)})
		}
	}
	for _, limit := range []struct {
		path  string
		value int64
	}{{"size_limit", int64(c.SizeLimit)}, {"file_limit", int64(c.FileLimit)}, {"sample_limit", int64(c.SampleLimit)}} {
		if limit.value <= 0 {
			problems = append(problems, collectors.Problem{Path: limit.path, Text: fmt.Sprintf("%s %d: expected more than 0", limit.path, limit.value)})
		}
	}
	return problems
}

func (c *Config) pathProblems() []collectors.Problem {
	wrong := ""
	_, err := filepath.Match(c.pattern(), "")
	switch {
	case !filepath.IsAbs(c.Path):
		wrong = "expected an absolute path such as /run/vitals/*.prom"
	case strings.HasSuffix(c.Path, "/"):
		wrong = "expected the files in the directory, such as " + c.Path + "*.prom"
	case strings.ContainsRune(c.Path, 0):
		wrong = "expected no NUL"
	case isPattern(filepath.Dir(c.Path)):
		wrong = "expected a pattern only after the last /"
	case err != nil:
		wrong = "expected a pattern such as *.prom after the last /"
	default:
		return nil
	}
	return []collectors.Problem{{Path: "path", Text: fmt.Sprintf("path %q: %s", c.Path, wrong)}}
}

// pattern is the last element of the path.
func (c *Config) pattern() string { return filepath.Base(c.Path) }

// isPattern reports whether a path has a character with a meaning in a pattern.
func isPattern(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// External implements collectors.Kind: a file is on this host.
func (c *Config) External() bool { return false }

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// PassedOn implements collectors.Exporter: every series of a file has the label component.
func (c *Config) PassedOn(name string) map[string][]string {
	if name == "" {
		return map[string][]string{"component": nil}
	}
	return map[string][]string{"component": {name}}
}

// Forwards implements collectors.Exporter.
func (c *Config) Forwards(metric string) bool {
	o, err := c.options("", nil)
	return err == nil && o.Keeps(metric)
}

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	o, err := c.options(env.Name, env.Memory)
	if err != nil {
		return nil, err
	}
	f := &collector{name: env.Name, path: c.Path}
	f.reader = reader{
		dir: filepath.Dir(c.Path), pattern: c.pattern(), limit: c.SizeLimit, files: c.FileLimit,
		bodies: env.Bodies, options: o, parsers: map[string]*textformat.Parser{},
	}
	return f, nil
}

// options returns the settings of the parsers. A file has no timestamps: its age is that of all
// its samples.
func (c *Config) options(name string, memory *budget.Account) (textformat.Options, error) {
	o := textformat.Options{
		Component: name, Strict: true, Memory: memory,
		SampleLimit: c.SampleLimit, LabelLimit: labelLimit, LengthLimit: lengthLimit,
	}
	if len(c.Keep) == 0 {
		return o, nil
	}
	var err error
	if o.Keep, err = regexp.Compile("^(?:" + strings.Join(c.Keep, "|") + ")$"); err != nil {
		return o, fmt.Errorf("compile keep: %w", err)
	}
	return o, nil
}

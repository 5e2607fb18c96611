package components

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
)

// minBooleanDeadline is the time of two checks of the file, so that one late check is no
// failure.
const minBooleanDeadline = 2 * booleanCheck

// SharedBoolean configures the file whose first byte is whether a component is alive. The
// short form is the path.
type SharedBoolean struct {
	// Path is the path of the file.
	Path string `yaml:"path"`
	// Deadline is the longest time between two writes of the file, by its
	// modification time. Zero is no deadline.
	Deadline model.Duration `yaml:"deadline,omitempty"`
}

// UnmarshalYAML reads a path or a mapping.
func (b *SharedBoolean) UnmarshalYAML(unmarshal func(any) error) error {
	var form any
	if err := unmarshal(&form); err != nil {
		return err
	}
	if _, ok := form.(map[string]any); !ok {
		return unmarshal(&b.Path)
	}
	type plain SharedBoolean
	return unmarshal((*plain)(b))
}

func (c *Config) sharedProblems() []collectors.Problem {
	var problems []collectors.Problem
	for _, name := range slices.Sorted(maps.Keys(c.SharedBooleans)) {
		path := "shared_booleans." + name
		problems = append(problems, collectors.NameProblem(path, name)...)
		b := c.SharedBooleans[name]
		if !filepath.IsAbs(b.Path) {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("path %q: expected an absolute path", b.Path)})
		}
		if d := time.Duration(b.Deadline); d != 0 && d < minBooleanDeadline {
			problems = append(problems, collectors.Problem{Path: path + ".deadline",
				Text: fmt.Sprintf("deadline %s: expected 0s (none) or at least %s, because the file is checked once a second", b.Deadline, minBooleanDeadline)})
		}
	}
	return problems
}

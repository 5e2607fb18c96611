package file

import (
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// noteOf says what people want to know where a file's age or its lines are asked for;
// empty where they are not.
func (f *collector) noteOf(seen fileSeen, err error, at time.Time) string {
	c := f.config
	var parts []string
	switch {
	case c.Format != formatCrontab && c.Epoch == "" && c.AgeLimit == 0:
		return ""
	case err != nil:
		return collectors.ShortNote(err.Error())
	case seen.info == nil:
		return collectors.ShortNote(c.Path + ": missing")
	}
	if c.Format == formatCrontab {
		parts = append(parts, fmt.Sprintf("%d active lines, %d uncommented", f.content.lines.active, f.content.lines.uncommented))
	}
	if c.Epoch != "" {
		parts = append(parts, c.Epoch+" "+ago(collectors.EpochSeconds(at)-f.content.epoch))
	} else if c.AgeLimit > 0 {
		parts = append(parts, "written "+ago(collectors.EpochSeconds(at)-collectors.EpochSeconds(seen.info.ModTime())))
	}
	if c.AgeLimit > 0 {
		parts = append(parts, "limit "+c.AgeLimit.String())
	}
	return collectors.ShortNote(c.Path + ": " + strings.Join(parts, ", "))
}

// ago renders an age in seconds; below zero it is still to come.
func ago(seconds float64) string {
	if seconds < 0 {
		return fmt.Sprintf("%.0fs in the future", -seconds)
	}
	return fmt.Sprintf("%.0fs ago", seconds)
}

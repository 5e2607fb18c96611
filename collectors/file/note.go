package file

import (
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// noteAt returns the age of the file or the lines of the crontab, empty if neither is
// configured.
func (c *collector) noteAt(seen snapshot, err error, at time.Time) string {
	config := c.config
	var parts []string
	switch {
	case config.Format != formatCrontab && config.Epoch == "" && config.AgeLimit == 0:
		return ""
	case err != nil:
		return collectors.ShortNote(err.Error())
	case seen.info == nil:
		return collectors.ShortNote(config.Path + ": missing")
	}
	if config.Format == formatCrontab {
		parts = append(parts, fmt.Sprintf("%d active lines, %d uncommented", c.content.lines.active, c.content.lines.uncommented))
	}
	if config.Epoch != "" {
		parts = append(parts, config.Epoch+" "+ago(collectors.EpochSeconds(at)-c.content.epoch))
	} else if config.AgeLimit > 0 {
		parts = append(parts, "written "+ago(collectors.EpochSeconds(at)-collectors.EpochSeconds(seen.info.ModTime())))
	}
	if config.AgeLimit > 0 {
		parts = append(parts, "limit "+config.AgeLimit.String())
	}
	return collectors.ShortNote(config.Path + ": " + strings.Join(parts, ", "))
}

// ago formats an age in seconds; a negative one is in the future.
func ago(seconds float64) string {
	if seconds < 0 {
		return fmt.Sprintf("%.0fs in the future", -seconds)
	}
	return fmt.Sprintf("%.0fs ago", seconds)
}

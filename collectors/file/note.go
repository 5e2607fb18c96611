package file

import (
	"fmt"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
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
		return text.Clip(err.Error(), collectors.MaxNote)
	case seen.info == nil:
		return text.Clip(config.Path+": missing", collectors.MaxNote)
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
	return text.Clip(config.Path+": "+strings.Join(parts, ", "), collectors.MaxNote)
}

// ago formats an age in seconds; a negative one is in the future.
func ago(seconds float64) string {
	if seconds < 0 {
		return fmt.Sprintf("%.0fs in the future", -seconds)
	}
	return fmt.Sprintf("%.0fs ago", seconds)
}

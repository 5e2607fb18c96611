package rules

import (
	"embed"
	"io/fs"
)

//go:embed builtin/*.yml
var builtin embed.FS

// Shipped returns the rule files that come with Vitals, such as
// kuryr-controller.yml.
func Shipped() fs.FS {
	files, err := fs.Sub(builtin, "builtin")
	if err != nil {
		panic("internal error: " + err.Error()) // only for an invalid path
	}
	return files
}

package rules

import (
	"embed"
	"io/fs"
)

//go:embed builtin/*.yml
var builtin embed.FS

// Shipped returns the rule files of Vitals, such as kuryr-controller.yml.
func Shipped() fs.FS {
	files, err := fs.Sub(builtin, "builtin")
	if err != nil {
		panic("internal error: " + err.Error()) // the path is constant
	}
	return files
}

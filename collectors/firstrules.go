package collectors

import (
	"embed"
	"io/fs"
)

//go:embed */*.rules.yml
var firstRules embed.FS

// FirstRules returns the files with the first rules for a collector of a kind, as
// FOLDER/KIND.rules.yml. That of remote/dependency holds for every kind with its metrics.
func FirstRules() fs.FS { return firstRules }

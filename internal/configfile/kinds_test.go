package configfile

import "github.com/vitals-health/vitals/collectors/kinds"

// allKinds are the kinds of the program.
func allKinds() Kinds[kinds.Config] { return Kinds[kinds.Config]{New: kinds.New} }

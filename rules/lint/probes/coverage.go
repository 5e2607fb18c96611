package probes

import "github.com/vitals-health/vitals/internal/manifest"

// Coverage is how many probes of a manifest the checks judge.
type Coverage struct {
	File string
	// Judged of All probes were checked. Skipped are the others.
	Judged, All int
	Skipped     []Skipped
}

// Skipped is a probe that the checks do not judge.
type Skipped struct {
	// Line and Col count from 1.
	Line, Col int
	// Where names the object, the container and the probe.
	Where, Reason string
}

// Covered returns the coverage of each manifest. It does not use in.Rules and in.Suggest.
func Covered(in Input) []Coverage {
	c := &checker{in: in}
	all := make([]Coverage, len(in.Manifests))
	place := map[*manifest.File]*Coverage{}
	for i, f := range in.Manifests {
		all[i].File = f.Name
		place[f] = &all[i]
	}
	c.each(func(a *probed, reason string) {
		of := place[a.file]
		of.All++
		if reason == "" {
			of.Judged++
			return
		}
		of.Skipped = append(of.Skipped, Skipped{a.Line, a.Col, a.where(), reason})
	})
	return all
}

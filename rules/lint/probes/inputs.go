package probes

import (
	"fmt"
	"slices"

	"github.com/vitals-health/vitals/internal/manifest"
)

// inputMissing finds files and variables of the configuration that the container of Vitals does
// not have. If several containers run Vitals with a configuration, it reports what all of them
// lack: each may have another configuration.
func inputMissing(p *checker) {
	type place struct {
		file      *manifest.File
		pod       *manifest.Pod
		container *manifest.Container
	}
	var all []place
	for _, f := range p.in.Manifests {
		for i := range f.Pods {
			if c := vitalsOf(&f.Pods[i]); c != nil && len(flagValues(c, "config.file")) > 0 {
				all = append(all, place{f, &f.Pods[i], c})
			}
		}
	}
	for _, need := range p.in.Needs {
		if len(all) == 0 || slices.ContainsFunc(all, func(at place) bool { return at.container.Has(need) }) {
			continue
		}
		at := all[0]
		text := fmt.Sprintf("%s: %s is in no volume of the container: Vitals cannot read it", need.Where, need.Name)
		cure := "add a volume with the file, and a volumeMount whose mountPath is its directory, or the file itself with a subPath"
		m, _ := at.container.MountOf(need.Name)
		switch {
		case need.Variable:
			text = fmt.Sprintf("%s: the container has no variable %s: Vitals rejects the configuration", need.Where, need.Name)
			cure = fmt.Sprintf("add %s to env, such as with a secretKeyRef", need.Name)
		case m != nil:
			cure = fmt.Sprintf("add the file to the volume at %s, which has other files only", m.Path)
		}
		p.atContainer(at.file, at.pod, at.container, cure, text)
	}
}

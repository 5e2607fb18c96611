package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// sbom lists what the programs of a platform consist of, as CycloneDX: the modules that the
// linker has recorded in them, Go's standard library, and the programs with their checksums.
func (s source) sbom(p platform, programs []file) ([]byte, error) {
	modules := map[string]string{}
	bom := cdx.NewBOM()
	var components []cdx.Component
	for _, f := range programs {
		info, err := buildinfo.Read(bytes.NewReader(f.data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		modules["std"] = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules[m.Path] = m.Version
		}
		components = append(components, cdx.Component{
			BOMRef: "file:" + f.path, Type: cdx.ComponentTypeFile, Name: f.path,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(f.data))}},
		})
	}
	var refs []string
	for path, version := range modules {
		ref := "pkg:golang/" + path + "@" + version // https://github.com/package-url/purl-spec
		refs = append(refs, ref)
		components = append(components, cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: ref})
	}
	slices.Sort(refs)
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	root := cdx.Component{
		BOMRef: "vitals", Type: cdx.ComponentTypeApplication, Name: "vitals", Version: s.version,
		PackageURL: "pkg:golang/github.com/vitals-health/vitals@v" + s.version,
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Properties: &[]cdx.Property{{Name: "platform", Value: p.String()}, {Name: "revision", Value: s.revision}},
	}
	bom.Metadata = &cdx.Metadata{Timestamp: s.at.Format(time.RFC3339), Component: &root}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "vitals", Dependencies: &refs}}
	// A number that follows from the content, so that the same content has the same bytes.
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(home+" "+s.revision+" "+p.String()+" "+strings.Join(refs, " "))).URN()
	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return b.Bytes(), err
}

package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// artifact is an image or an archive.
type artifact struct {
	name, version string
	kind          cdx.ComponentType

	// files are its own parts, and packages those of a distribution and of Python; modules are those of all programs by their reference, uses the modules
	// of each program.
	files    []cdx.Component
	packages []cdx.Component
	modules  map[string]cdx.Component
	uses     map[string][]string
}

// add takes a file of the disk that lies at a place of the artifact. A program of Go brings its modules along.
func (a *artifact) add(place, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	c := cdx.Component{
		BOMRef: "file:" + place, Type: cdx.ComponentTypeFile, Name: path.Base(place),
		Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Evidence: &cdx.Evidence{Occurrences: &[]cdx.EvidenceOccurrence{{Location: place}}},
	}
	info, err := buildinfo.ReadFile(file)
	if err == nil {
		c.Type, c.Version, c.PackageURL = cdx.ComponentTypeApplication, a.version, purl(info.Main.Path, a.version)+"#"+strings.TrimPrefix(info.Path, info.Main.Path+"/")
		c.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
		if err := a.addModules(c.BOMRef, info); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	a.files = append(a.files, c)
	return nil
}

// addModules notes what a program was compiled of: its modules, and Go's own library.
func (a *artifact) addModules(program string, info *debug.BuildInfo) error {
	if a.modules == nil {
		a.modules, a.uses = map[string]cdx.Component{}, map[string][]string{}
	}
	library := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
	library.PackageURL = purl(library.Name, library.Version)
	all := []cdx.Component{library}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl(m.Path, m.Version)}
		if m.Sum != "" {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
			if err != nil {
				return fmt.Errorf("checksum of module %s: %w", m.Path, err)
			}
			// As other writers have it: the checksum of go.sum, which is that of a list of all files of the module.
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		all = append(all, c)
	}
	for _, c := range all {
		c.BOMRef = c.PackageURL
		a.modules[c.BOMRef] = c
		a.uses[program] = append(a.uses[program], c.BOMRef)
	}
	return nil
}

// purl is the package URL of a Go module.
func purl(module, version string) string {
	return "pkg:golang/" + module + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// bom is the whole document but for its serial number. Everything in it is sorted.
func (a *artifact) bom() *cdx.BOM {
	bom := cdx.NewBOM()
	self := cdx.Component{BOMRef: "artifact", Type: a.kind, Name: a.name, Version: a.version}
	bom.Metadata = &cdx.Metadata{
		Component: &self,
		Tools:     &cdx.ToolsChoice{Components: &[]cdx.Component{{Type: cdx.ComponentTypeApplication, Name: "github.com/ironflow/ironflow/tools/sbom"}}},
	}
	components := slices.Clone(a.files)
	var parts []string
	var dependencies []cdx.Dependency
	for _, f := range a.files {
		parts = append(parts, f.BOMRef)
		dependencies = append(dependencies, dependsOn(f.BOMRef, a.uses[f.BOMRef]))
	}
	for _, p := range a.packages {
		components = append(components, p)
		parts = append(parts, p.BOMRef)
		dependencies = append(dependencies, cdx.Dependency{Ref: p.BOMRef})
	}
	for _, m := range a.modules {
		components = append(components, m)
		dependencies = append(dependencies, cdx.Dependency{Ref: m.BOMRef})
	}
	dependencies = append(dependencies, dependsOn(self.BOMRef, parts))
	slices.SortFunc(components, func(x, y cdx.Component) int { return cmp.Compare(x.BOMRef, y.BOMRef) })
	slices.SortFunc(dependencies, func(x, y cdx.Dependency) int { return cmp.Compare(x.Ref, y.Ref) })
	bom.Components, bom.Dependencies = &components, &dependencies
	return bom
}

func dependsOn(ref string, on []string) cdx.Dependency {
	if len(on) == 0 {
		return cdx.Dependency{Ref: ref}
	}
	on = slices.Sorted(slices.Values(on))
	return cdx.Dependency{Ref: ref, Dependencies: &on}
}

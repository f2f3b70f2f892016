package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// addDebian notes the packages that a file of dpkg's format names as installed. No file is no package.
func (a *artifact) addDebian(file string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before := len(a.packages)
	for stanza := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		fields := map[string]string{}
		for line := range strings.Lines(stanza) {
			// What goes on from the line above begins with a space, and is of no interest.
			if name, value, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, " ") {
				fields[name] = strings.TrimSpace(value)
			}
		}
		if !strings.HasSuffix(fields["Status"], " installed") {
			continue
		}
		name, version := fields["Package"], fields["Version"]
		if name == "" || version == "" {
			return fmt.Errorf("%s: a package without name or version: %q", file, stanza)
		}
		a.addPackage("pkg:deb/debian/", name, version, "?arch="+fields["Architecture"])
	}
	if len(a.packages) == before {
		return fmt.Errorf("%s names no installed package", file)
	}
	return nil
}

// addPyPI notes the packages of pip's list. No file is no package.
func (a *artifact) addPyPI(file string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var list []struct{ Name, Version string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(list) == 0 {
		return errors.New(file + " names no package")
	}
	for _, p := range list {
		// As package URLs have it.
		a.addPackage("pkg:pypi/", strings.ToLower(strings.ReplaceAll(p.Name, "_", "-")), p.Version, "")
	}
	return nil
}

// addPackage notes one, by its package URL.
func (a *artifact) addPackage(kind, name, version, qualifiers string) {
	escape := strings.NewReplacer("+", "%2B")
	url := kind + escape.Replace(name) + "@" + escape.Replace(version) + qualifiers
	a.packages = append(a.packages, cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: url})
}

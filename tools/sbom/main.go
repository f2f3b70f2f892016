// Command sbom writes the software bill of materials (CycloneDX 1.6, JSON) of an image or an archive: its files with their checksums, and the Go modules
// that each program among them was compiled of, read from the programs themselves; for an image with a distribution in it, its packages of Debian and of
// Python, read from the lists of dpkg and pip. The same files give the same bytes: there is no time in it,
// and its serial number is made of its content.
//
//	sbom --name ironflow --version v0.1.0 --type container --out ironflow.cdx.json /ironflow=bin/ironflow /etc/ssl/certs/ca-certificates.crt=ca.crt
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run writes the bill of materials that the arguments ask for.
func run(args []string) error {
	var a artifact
	var out, kind, debian, pypi string
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	flags.StringVar(&a.name, "name", "", "name of the image or archive")
	flags.StringVar(&a.version, "version", "", "its version, which is that of Ironflow's programs in it")
	flags.StringVar(&kind, "type", string(cdx.ComponentTypeApplication), "container or application")
	flags.StringVar(&out, "out", "", "file to write")
	flags.StringVar(&debian, "debian", "", "the file /var/lib/dpkg/status of the image, if it has one")
	flags.StringVar(&pypi, "pypi", "", "what `pip list --format json` says in the image, if it has Python packages")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if a.name == "" || a.version == "" || out == "" || flags.NArg() == 0 {
		return errors.New("usage: sbom --name NAME --version VERSION [--type container] --out FILE PLACE=FILE [PLACE=FILE]")
	}
	a.kind = cdx.ComponentType(kind)
	for _, arg := range flags.Args() {
		place, path, found := strings.Cut(arg, "=")
		if !found {
			return fmt.Errorf("%q is not PLACE=FILE", arg)
		}
		if err := a.add(place, path); err != nil {
			return err
		}
	}
	if err := errors.Join(a.addDebian(debian), a.addPyPI(pypi)); err != nil {
		return err
	}
	raw, err := encode(a.bom())
	if err != nil {
		return err
	}
	return os.WriteFile(out, raw, 0o644)
}

// encode gives the document its serial number, a UUID of the checksum of the rest (version 8 of RFC 9562), and returns its bytes.
func encode(bom *cdx.BOM) ([]byte, error) {
	raw, err := encoded(bom)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	bom.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return encoded(bom)
}

func encoded(bom *cdx.BOM) ([]byte, error) {
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return out.Bytes(), err
}

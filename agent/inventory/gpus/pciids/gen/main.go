// Command gen shortens the list of PCI ids (pci-ids.ucw.cz, which may be
// distributed under the 3-clause BSD license) to vendors and devices, and
// compresses it. Debian has it in the package pci.ids.
//
//	go run ./gen /usr/share/misc/pci.ids pci.ids.gz
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen FROM TO")
		os.Exit(2)
	}
	if err := shorten(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func shorten(from, to string) error {
	f, err := os.Open(from) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	defer f.Close()
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "C ") { // device classes follow
			break
		}
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "\t\t") {
			continue
		}
		if _, err := fmt.Fprintln(zip, line); err != nil {
			return err
		}
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o644) //nolint:gosec // the caller names the file
}

package node

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironflow/ironflow/test/vm/node/images"
)

// libraries is where Debian has them.
const libraries = "usr/lib/x86_64-linux-gnu"

// iptables are the names by which kube-proxy calls Debian's one program.
var iptables = []string{"iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore"}

// tables lists Debian's iptables out of a root file system, with the libraries that it
// loads: kube-proxy's image has to have it.
func tables(root string) ([]images.File, error) {
	const program = "usr/sbin/xtables-nft-multi"
	needed, err := loads(root, program, nil)
	if err != nil {
		return nil, err
	}
	extensions, err := fs.Glob(os.DirFS(root), libraries+"/xtables/*.so")
	if err != nil {
		return nil, err
	}
	if len(extensions) == 0 {
		return nil, errors.New("the root file system has no extensions of iptables in " + libraries + "/xtables")
	}
	for _, name := range extensions { // such as the one that spreads connections of a Service
		if needed, err = loads(root, name, needed); err != nil {
			return nil, err
		}
	}
	files := []images.File{
		{Path: program, From: filepath.Join(root, program)},
		{Path: "lib64/ld-linux-x86-64.so.2", Link: "../" + libraries + "/ld-linux-x86-64.so.2"},
	}
	for _, name := range iptables {
		files = append(files, images.File{Path: "usr/sbin/" + name, Link: "xtables-nft-multi"})
	}
	for _, name := range append(needed, "ld-linux-x86-64.so.2") {
		files = append(files, images.File{Path: libraries + "/" + name, From: filepath.Join(root, libraries, name)})
	}
	for _, name := range extensions {
		files = append(files, images.File{Path: name, From: filepath.Join(root, name)})
	}
	return files, nil
}

// loads are the libraries that a program and its libraries load, besides those known.
func loads(root, file string, known []string) ([]string, error) {
	program, err := elf.Open(filepath.Join(root, file))
	if err != nil {
		return nil, fmt.Errorf("read what %s loads: %w", file, err)
	}
	defer func() { _ = program.Close() }() // it was only read
	names, err := program.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("read what %s loads: %w", file, err)
	}
	for _, name := range names {
		if slices.Contains(known, name) || name == "ld-linux-x86-64.so.2" {
			continue
		}
		if known, err = loads(root, libraries+"/"+name, append(known, name)); err != nil {
			return nil, err
		}
	}
	return known, nil
}

package filestore

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of names, in bytes: a key of S3 has at most 1024 with the prefix, a name
// in a folder at most 255.
const (
	maxName = 512
	maxPart = 200
)

// checkName returns ErrName for what cannot be a file in both kinds of stores.
func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("%w: it is longer than %d bytes", ErrName, maxName)
	}
	if name == "." || !fs.ValidPath(name) {
		return fmt.Errorf("%w: %q: want parts with single slashes between them", ErrName, name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxPart || part[0] == '.' || !utf8.ValidString(part) || strings.ContainsFunc(part, unfit) {
			return fmt.Errorf("%w: %q: want parts of at most %d printable characters that do not begin with a dot", ErrName, name, maxPart)
		}
	}
	return nil
}

func unfit(r rune) bool { return r == '\\' || unicode.IsControl(r) }

// checkFolder is checkName for a folder; the empty name is the top.
func checkFolder(name string) error {
	if name == "" {
		return nil
	}
	return checkName(name)
}

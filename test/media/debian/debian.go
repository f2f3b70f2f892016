// Package debian makes bootable media in the CoreOS layout out of Debian
// packages, as shell scripts: no real media can be had everywhere that tests
// run. Its parts (packages, initrd, live ISO) are shared by the small guest of
// the boot tests and by the machines of test/vm; each has scripts of its own
// beside them. The main function is [Make].
package debian

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/test/lab/cache"
)

// parts are what all media have in common. Scripts find them at
// media/debian/parts below the folder test.
//
//go:embed all:parts
var parts embed.FS

// tailLines is how much of the scripts' output an error carries.
const tailLines = 20

// Scripts are one medium's own scripts.
type Scripts struct {
	// Name says in the cache's folder what is made.
	Name string
	// Files are the scripts.
	Files fs.FS
	// Dir is the scripts' package below the folder test, such as "boot".
	Dir string
	// Make is the script in Files that makes the medium; it is called with the
	// folder to make it in, and then Args.
	Make string
	Args []string
	// Alone says that the scripts use none of the shared parts.
	Alone bool
	// Inputs are what the medium is made from beside the scripts.
	Inputs [][]byte
}

// Make returns the folder with what the scripts make, made on first use and kept
// in the user's cache. It needs root and the programs of
// test/scripts/boot-tools.sh. An error holds the end of the scripts' output.
func Make(ctx context.Context, s Scripts) (string, error) {
	root, err := cache.DefaultDir()
	if err != nil {
		return "", err
	}
	key, err := s.key()
	if err != nil {
		return "", err
	}
	dir, err := cache.Entry{Dir: root, Name: s.Name, Key: key}.Get(ctx, nil, s.run)
	if err != nil {
		return "", fmt.Errorf("make %s: %w", s.Name, err)
	}
	return dir, nil
}

// key covers the name and content of every script, and the inputs.
func (s Scripts) key() (string, error) {
	all := append([][]byte{[]byte(s.Make)}, s.Inputs...)
	sources := []fs.FS{s.Files}
	if !s.Alone {
		sources = append(sources, parts)
	}
	for _, files := range sources {
		err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := fs.ReadFile(files, path)
			all = append(all, []byte(path), raw)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return cache.Key(all...), nil
}

// run lays the scripts out as in the source tree, and runs them.
func (s Scripts) run(ctx context.Context, dir string) error {
	from, err := os.MkdirTemp("", "ironflow-medium-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(from)
	own := filepath.Join(from, filepath.FromSlash(s.Dir))
	if err := errors.Join(os.CopyFS(own, s.Files), os.CopyFS(filepath.Join(from, "media", "debian"), parts)); err != nil {
		return err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "bash", append([]string{filepath.Join(own, filepath.FromSlash(s.Make)), dir}, s.Args...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return errors.Join(err, errors.New(strings.Join(lines[max(0, len(lines)-tailLines):], "\n")))
	}
	return nil
}

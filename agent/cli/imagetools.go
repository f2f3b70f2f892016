package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/agent/program"
)

// imageTools are for the agent's container image, which holds nothing but this
// binary: a unit that takes the agent out of it calls cp there.
func imageTools() []program.Program {
	return []program.Program{
		{Name: "cp", Summary: "copy files, for units that take the agent from its container image; arguments: FILE... TARGET", Run: runCopy},
		{Name: "install-links", Summary: "make a link in a folder for each of these program names; argument: FOLDER", Run: runInstallLinks},
	}
}

// runCopy is cp as far as units use it: regular files, whose links are followed.
func runCopy(_ context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "FILE... TARGET")
	if code, done := c.Parse(s, args); done {
		return code
	}
	files := c.Set.Args()
	if len(files) < 2 {
		c.Set.Usage()
		return program.ExitFlags
	}
	target := files[len(files)-1]
	info, err := os.Stat(target)
	folder := err == nil && info.IsDir()
	if !folder && len(files) > 2 {
		fmt.Fprintf(s.Err, "cp: %s is no folder\n", target)
		return exitConfig
	}
	for _, file := range files[:len(files)-1] {
		to := target
		if folder {
			to = filepath.Join(target, filepath.Base(file))
		}
		if err := copyFile(file, to); err != nil {
			fmt.Fprintln(s.Err, "cp:", err)
			return exitConfig
		}
	}
	return 0
}

// copyFile replaces the target at once: a program that runs from it goes on.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", from)
	}
	out, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// runInstallLinks links every name to this binary, which lies in the same folder.
// What is there already stays.
func runInstallLinks(_ context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "FOLDER")
	if code, done := c.Parse(s, args); done {
		return code
	}
	if c.Set.NArg() != 1 {
		c.Set.Usage()
		return program.ExitFlags
	}
	for _, p := range Programs() {
		err := os.Symlink(BinaryName, filepath.Join(c.Set.Arg(0), p.Name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			fmt.Fprintln(s.Err, err)
			return exitConfig
		}
	}
	return 0
}

package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"syscall"
	"time"
)

// incomingFolder holds what is not there as a whole yet. Names of files do not
// begin with a dot.
const incomingFolder = ".incoming"

// abandoned is the age from which a file in it belongs to a program that has ended.
const abandoned = 24 * time.Hour

// Directory is a [Store] in a folder. Nothing outside of the folder is touched,
// also when there are symbolic links in it.
type Directory struct{ root *os.Root }

// OpenDirectory opens the folder, which it makes if there is none, and removes
// what earlier programs left unfinished there a day or more ago. Several programs
// may share it.
func OpenDirectory(folder string) (*Directory, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	d := &Directory{root: root}
	if err := d.sweep(time.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("files that were left unfinished: %w", err), root.Close())
	}
	return d, nil
}

// Usage is how full the file system of the folder is, in percent.
func (d *Directory) Usage() (float64, error) {
	folder, err := d.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer func() { _ = folder.Close() }() // nothing was written
	var fs syscall.Statfs_t
	if err := syscall.Fstatfs(int(folder.Fd()), &fs); err != nil {
		return 0, fmt.Errorf("how full is the folder of files: %w", err)
	}
	if fs.Blocks == 0 {
		return 0, nil
	}
	return 100 * float64(fs.Blocks-fs.Bfree) / float64(fs.Blocks), nil
}

// Close ends the use of the folder. Files that are open stay so.
func (d *Directory) Close() error { return d.root.Close() }

func (d *Directory) sweep(now time.Time) error {
	if err := d.root.MkdirAll(incomingFolder, 0o700); err != nil {
		return err
	}
	left, err := fs.ReadDir(d.root.FS(), incomingFolder)
	if err != nil {
		return err
	}
	for _, entry := range left {
		info, err := entry.Info()
		if err == nil && now.Sub(info.ModTime()) >= abandoned {
			err = d.root.Remove(path.Join(incomingFolder, entry.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Put implements [Store]. It returns when the file is on the disk, so that it
// also survives a power cut.
func (d *Directory) Put(ctx context.Context, name string, from io.Reader, limit int64) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	in, err := receive(ctx, d.root, incomingFolder, from, limit)
	if err != nil {
		return Info{}, err
	}
	err = errors.Join(in.file.Sync(), in.file.Close())
	if err == nil {
		err = d.place(in.name, name)
	}
	if err != nil {
		_ = d.root.Remove(in.name) // what stays is swept
		return Info{}, unavailable(err)
	}
	return d.Stat(ctx, name)
}

// place moves a file to its name, where it replaces an earlier one.
func (d *Directory) place(from, name string) error {
	if err := d.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	if err := d.root.Rename(from, name); err != nil {
		return err
	}
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		if err := d.sync(folder); err != nil {
			return err
		}
		if folder == "." {
			return nil
		}
	}
}

// sync writes the entries of a folder to the disk.
func (d *Directory) sync(folder string) error {
	f, err := d.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open implements [Store].
func (d *Directory) Open(ctx context.Context, name string) (io.ReadSeekCloser, Info, error) {
	info, err := d.Stat(ctx, name)
	if err != nil {
		return nil, Info{}, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, Info{}, failed(err)
	}
	// Another file may have taken the name since.
	found, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, Info{}, unavailable(err)
	}
	info.Size, info.Modified = found.Size(), found.ModTime()
	return &wholeFile{file: f, ctx: ctx, size: info.Size}, info, nil
}

// Stat implements [Store].
func (d *Directory) Stat(ctx context.Context, name string) (Info, error) {
	if err := errors.Join(checkName(name), ctx.Err()); err != nil {
		return Info{}, err
	}
	found, err := d.root.Stat(name)
	switch {
	case err != nil:
		return Info{}, failed(err)
	case !found.Mode().IsRegular():
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return Info{Name: name, Size: found.Size(), Modified: found.ModTime()}, nil
}

// Remove implements [Store]. Folders that have become empty stay.
func (d *Directory) Remove(ctx context.Context, name string) error {
	_, err := d.Stat(ctx, name)
	if err == nil {
		if err = d.root.Remove(name); err != nil {
			err = failed(err)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List implements [Store]. The names of one folder at a time are in memory.
func (d *Directory) List(ctx context.Context, folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkFolder(folder); err != nil {
			yield(Info{}, err)
			return
		}
		if folder == "" {
			folder = "."
		}
		err := fs.WalkDir(d.root.FS(), folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist):
				return nil // it was removed meanwhile, or there is no such folder
			case err != nil:
				return unavailable(err)
			case name == incomingFolder:
				return fs.SkipDir
			case !entry.Type().IsRegular() || checkName(name) != nil:
				return nil //nolint:nilerr // the entry is none of ours
			}
			switch info, err := d.Stat(ctx, name); {
			case err == nil && !yield(info, nil):
				return fs.SkipAll
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return err
			}
			return nil
		})
		if err != nil {
			yield(Info{}, err)
		}
	}
}

// wholeFile notices a file that ends before the size that it had when it was opened.
type wholeFile struct {
	file *os.File
	ctx  context.Context
	size int64
}

// Read implements [io.Reader].
func (f *wholeFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.file.Read(p)
	if err == nil {
		return n, nil
	}
	if err != io.EOF {
		return n, unavailable(err)
	}
	if at, err := f.file.Seek(0, io.SeekCurrent); err != nil || at < f.size {
		return n, unavailable(errors.Join(err, io.ErrUnexpectedEOF))
	}
	return n, io.EOF
}

// Seek implements [io.Seeker].
func (f *wholeFile) Seek(offset int64, whence int) (int64, error) {
	return f.file.Seek(offset, whence)
}

// Close implements [io.Closer].
func (f *wholeFile) Close() error { return f.file.Close() }

// failed sorts an error of the folder: what is not there, and what may work later.
func failed(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, syscall.ENOTDIR): // a part of the name is that of a file
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return unavailable(err)
}

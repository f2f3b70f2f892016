// Package backup copies what a hub cannot do without into one file, and puts it
// back: the records, and the keys of the data folder by which agents, images and
// certificates stay valid. Its functions are [Write] and [Restore].
//
// The file is a gzipped tar archive of keys/… and records.jsonl (see
// [store.Dump]), so a copy of SQLite can be put into PostgreSQL and the other way
// round. It holds secrets: tokens' keys, pull secrets and what users put into
// Ignition. Logs that hosts sent are not in it.
package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

// records is the name of the records in the archive, keys the folder of the keys.
const (
	records = "records.jsonl"
	keys    = "keys"
)

// keyFiles are the names of keys within the data folder, as patterns: whatever part of the
// program makes a key there, a hub that is put back goes on with it.
var keyFiles = []string{"*.key", "*.key.old", "tls/*"}

// maxKey bounds a key's file, in bytes.
const maxKey = 1 << 20

// Options say what is copied.
type Options struct {
	// DataDir is the hub's data folder.
	DataDir string
	// Place is where its records are.
	Place store.Place
}

// Write makes a copy of one moment. Hubs may go on working. The records are
// spooled in a file of the data folder first, because an archive names their size
// before them.
func Write(ctx context.Context, o Options, now time.Time, to io.Writer) (store.Rows, error) {
	spool, err := newSpool(o.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no data folder %s: name the hub's own folder by --data-dir", o.DataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("room for the records in the data folder: %w", err)
	}
	defer spool.Close()
	rows, err := store.Dump(ctx, o.Place, now, spool)
	if err != nil {
		return nil, err
	}
	size, err := spool.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	zipped := gzip.NewWriter(to)
	archive := tar.NewWriter(zipped)
	if err := writeKeys(o.DataDir, now, archive); err != nil {
		return nil, err
	}
	if err := archive.WriteHeader(header(records, size, now)); err != nil {
		return nil, err
	}
	if _, err := io.Copy(archive, spool); err != nil {
		return nil, err
	}
	return rows, errors.Join(archive.Close(), zipped.Close())
}

// newSpool is a file without a name: nothing of it is left, whatever ends the program. It
// is made in the data folder, the only one that is there and can be written to in a container
// whose root is read-only.
func newSpool(dataDir string) (*os.File, error) {
	root, err := os.OpenRoot(dataDir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing is lost by it
	name := ".backup-" + rand.Text()
	spool, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := root.Remove(name); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	return spool, nil
}

func header(name string, size int64, now time.Time) *tar.Header {
	return &tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: now, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
}

func writeKeys(dataDir string, now time.Time, archive *tar.Writer) error {
	root, err := os.OpenRoot(dataDir)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is lost by it
	for _, pattern := range keyFiles {
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			key, err := root.ReadFile(name)
			if err != nil {
				return fmt.Errorf("data folder: %w", err)
			}
			if err := archive.WriteHeader(header(path.Join(keys, name), int64(len(key)), now)); err != nil {
				return err
			}
			if _, err := archive.Write(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Restore puts a copy back. It changes nothing where that would take something
// away: where there are records already, or a key that is another one.
// The file is read twice: its checksum is at its end.
func Restore(ctx context.Context, o Options, from io.ReadSeeker) (store.Rows, error) {
	if err := check(from); err != nil {
		return nil, err
	}
	zipped, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	root, err := os.OpenRoot(o.DataDir)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is lost by it
	archive := tar.NewReader(zipped)
	found, err := readKeys(archive)
	if err != nil {
		return nil, err
	}
	missing, err := missingKeys(root, found)
	if err != nil {
		return nil, err
	}
	// Records without their keys would lock the hosts out, and nothing could be restored over them.
	return store.Load(ctx, o.Place, archive, func() error { return writeMissing(root, found, missing) })
}

// check reads the file to its end.
func check(from io.ReadSeeker) error {
	zipped, err := gzip.NewReader(from)
	if err != nil {
		return fmt.Errorf("this is no backup of the hub: %w", err)
	}
	if _, err := io.Copy(io.Discard, zipped); err != nil { //nolint:gosec // it is not kept
		return fmt.Errorf("the backup ends too early or is damaged: %w", err)
	}
	_, err = from.Seek(0, io.SeekStart)
	return err
}

// readKeys reads the keys, which lie before the records.
func readKeys(archive *tar.Reader) (map[string][]byte, error) {
	found := map[string][]byte{}
	for {
		entry, err := archive.Next()
		if err != nil {
			return nil, fmt.Errorf("the backup has no records: %w", err)
		}
		if entry.Name == records {
			return found, nil
		}
		name, isKey := strings.CutPrefix(entry.Name, keys+"/")
		if !isKey || !isKeyFile(name) || entry.Size > maxKey {
			return nil, fmt.Errorf("the backup holds %q, which this program does not know", entry.Name)
		}
		if found[name], err = io.ReadAll(archive); err != nil {
			return nil, err
		}
	}
}

func isKeyFile(name string) bool {
	return slices.ContainsFunc(keyFiles, func(pattern string) bool {
		match, err := path.Match(pattern, name)
		return err == nil && match && fs.ValidPath(name)
	})
}

// missingKeys are the names of those that the data folder lacks.
func missingKeys(root *os.Root, found map[string][]byte) (missing []string, err error) {
	for name, key := range found {
		have, err := root.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, name)
		case err != nil:
			return nil, fmt.Errorf("data folder: %w", err)
		case !bytes.Equal(have, key):
			return nil, fmt.Errorf("%s in the data folder is another than that of the backup: move it away if the hosts and images of the backup are to be served", name)
		}
	}
	return missing, nil
}

func writeMissing(root *os.Root, found map[string][]byte, missing []string) error {
	for _, name := range missing {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
		if err := writeKey(root, name, found[name]); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
	}
	return nil
}

// writeKey makes the file; one that somebody has made meanwhile is left alone.
func writeKey(root *os.Root, name string, key []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(key)
	return errors.Join(err, f.Sync(), f.Close())
}

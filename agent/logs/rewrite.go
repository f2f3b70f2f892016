package logs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/redact"
)

const (
	// maxRewritten bounds what a bundle holds, uncompressed; maxMembers its files.
	maxRewritten = 1 << 30
	maxMembers   = 20_000
)

// rewriter makes a bundle of logs without secrets out of files that others made.
type rewriter struct {
	zip     *gzip.Writer
	archive *tar.Writer
	known   []string
	left    int64
	members int
	full    bool
	notes   bytes.Buffer
	err     error // of the bundle itself
}

func newRewriter(out io.Writer, known []string) *rewriter {
	zip := gzip.NewWriter(out)
	return &rewriter{zip: zip, archive: tar.NewWriter(zip), known: known, left: maxRewritten, members: maxMembers}
}

// bundle takes the files of a tar.gz; false means that there is none.
func (w *rewriter) bundle(at string) bool {
	f, err := os.Open(at)
	if err != nil {
		return false
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		w.note(filepath.Base(at), err)
		return false
	}
	members := tar.NewReader(zip)
	for {
		member, err := members.Next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil { // cut short: what was there is kept
			w.note(filepath.Base(at), err)
			return true
		}
		if member.Typeflag == tar.TypeReg {
			w.add(member.Name, members)
		}
	}
}

// tree takes the files of a folder; false means that there is none.
func (w *rewriter) tree(folder, name string) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // only read
	err = fs.WalkDir(root.FS(), ".", func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // what is gone by now is left out
		}
		f, err := root.Open(at)
		if err != nil {
			w.note(at, err)
			return nil
		}
		defer f.Close()
		w.add(path.Join(name, at), f)
		return nil
	})
	if err != nil {
		w.note(name, err)
	}
	return true
}

// add takes one file, without secrets. Text is taken, also when it is
// compressed; anything else is left out: nobody can tell what it holds.
func (w *rewriter) add(name string, from io.Reader) {
	clean := path.Clean(strings.TrimPrefix(name, "/"))
	if w.err != nil || !filepath.IsLocal(clean) {
		return
	}
	if w.members == 0 || w.left <= 0 {
		if !w.full {
			w.note(name, errors.New("the bundle is too large; this and what follows is left out"))
		}
		w.full = true
		return
	}
	w.members--
	raw, err := w.text(from, true)
	if err != nil {
		w.note(name, err)
		return
	}
	w.err = addText(w.archive, clean, raw)
}

// text reads a file's text without its secrets; one that is compressed, if that
// may be, is compressed again.
func (w *rewriter) text(from io.Reader, mayBePacked bool) ([]byte, error) {
	limited := &io.LimitedReader{R: from, N: min(w.left, maxPiece)}
	start := make([]byte, 1<<10)
	n, _ := io.ReadFull(limited, start)
	whole := io.MultiReader(bytes.NewReader(start[:n]), limited)
	var out bytes.Buffer
	if mayBePacked && bytes.HasPrefix(start[:n], []byte{0x1f, 0x8b}) {
		return w.unpacked(whole)
	}
	if bytes.IndexByte(start[:n], 0) >= 0 {
		return nil, errors.New("is not text, and left out")
	}
	clean := redact.NewWriter(&out, w.known...)
	read, err := io.Copy(clean, whole)
	w.left -= read
	if limited.N == 0 {
		fmt.Fprintf(&out, "\n… cut after %d bytes\n", read)
	}
	if err == nil {
		err = clean.Close()
	}
	return out.Bytes(), err
}

// unpacked is the text of a compressed file, compressed again.
func (w *rewriter) unpacked(from io.Reader) ([]byte, error) {
	inner, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	text, err := w.text(inner, false)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		return nil, err
	}
	err = zip.Close() // before the bytes are looked at
	return out.Bytes(), err
}

func (w *rewriter) note(name string, err error) { fmt.Fprintf(&w.notes, "%s: %v\n", name, err) }

// close ends the bundle with the report of what was left out.
func (w *rewriter) close() error {
	if w.notes.Len() > 0 && w.err == nil {
		w.err = addText(w.archive, "report.logs", redact.Secrets(w.notes.Bytes(), w.known...))
	}
	if w.err != nil {
		return w.err
	}
	if err := w.archive.Close(); err != nil {
		return err
	}
	return w.zip.Close()
}

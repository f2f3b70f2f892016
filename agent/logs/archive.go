package logs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/ironflow/ironflow/api/redact"
)

const (
	// maxUpload is the largest archive that hubs take, in bytes; the protocol's.
	maxUpload = 262_144_000
	// spare is kept free in each archive: for the report, the ends of the formats
	// and what the compressor still holds.
	spare = 2 << 20
	// beat is how long an upload is silent at most while something is collected.
	beat = 5 * time.Second
	// maxArchives bounds one collection.
	maxArchives = 8
)

// File is a file of known size that goes into the archive as it is.
type File struct {
	Name string
	Size int64
	Open func() (io.ReadCloser, error)
}

// entry is one file of an archive: a piece of text, or a stretch of a [File].
type entry struct {
	piece  Piece
	file   *File
	name   string
	offset int64
	size   int64
}

// bundle is all that one collection sends, in the order of the archives.
type bundle struct {
	hostID  string
	entries []entry
	// known are values that are redacted wherever they stand.
	known []string
	// limit is the size of the largest archive.
	limit int64
	held  *held
}

// held is a text that was collected and not written yet.
type held struct {
	at   int
	text []byte
	err  error
}

// newBundle puts pieces and files in order. A file that no archive can hold is
// cut into stretches NAME.part-1, NAME.part-2 …, which cat puts together again.
func newBundle(hostID string, pieces []Piece, files []File, known []string, limit int64) *bundle {
	b := &bundle{hostID: hostID, known: known, limit: limit}
	for _, piece := range pieces {
		b.entries = append(b.entries, entry{piece: piece, name: piece.Name})
	}
	largest := limit - spare
	for _, file := range files {
		if file.Size <= largest {
			b.entries = append(b.entries, entry{file: &file, name: file.Name, size: file.Size})
			continue
		}
		for i, offset := 1, int64(0); offset < file.Size; i, offset = i+1, offset+largest {
			b.entries = append(b.entries, entry{file: &file, name: fmt.Sprintf("%s.part-%d", file.Name, i), offset: offset, size: min(largest, file.Size-offset)})
		}
	}
	return b
}

// archiveName is the name of the nth archive, counted from 1.
func archiveName(n int) string {
	if n == 1 {
		return "logs.tar.gz"
	}
	return fmt.Sprintf("logs-%d.tar.gz", n)
}

// write makes the nth archive out of the entries from the given one on: a folder
// logs_host_HOSTID and in it report.logs with what could not be collected. It
// returns the entry that the next archive begins with.
func (b *bundle) write(ctx context.Context, w io.Writer, n, from int) (next int, err error) {
	count := &counter{out: w}
	zip := gzip.NewWriter(count)
	archive := tar.NewWriter(zip)
	var report bytes.Buffer
	next = from
	for ; next < len(b.entries); next++ {
		if ctx.Err() != nil {
			return next, context.Cause(ctx)
		}
		e := b.entries[next]
		if e.file == nil {
			if err := beating(zip.Flush, func() { b.hold(ctx, next) }); err != nil {
				return next, err
			}
			e.size = int64(len(b.held.text))
		}
		if next > from && count.n+e.size > b.limit-spare {
			fmt.Fprintf(&report, "the rest is in %s\n", archiveName(n+1))
			break
		}
		if err := b.add(archive, e, &report); err != nil {
			return next, err
		}
		if err := zip.Flush(); err != nil { // what the hub has, a crash cannot take away
			return next, err
		}
	}
	if report.Len() > 0 {
		if err := addText(archive, b.path("report.logs"), redact.Secrets(report.Bytes(), b.known...)); err != nil {
			return next, err
		}
	}
	if err := archive.Close(); err != nil {
		return next, err
	}
	return next, zip.Close()
}

func (b *bundle) path(name string) string { return path.Join("logs_host_"+b.hostID, name) }

// beating does something that may take long, and meanwhile flushes the
// compressor again and again: each time a few bytes go out, so that no proxy on
// the way takes the upload for dead.
func beating(flush func() error, do func()) error {
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	var err error
	for {
		select {
		case <-done:
			return err
		case <-ticks.C:
			if err == nil {
				err = flush()
			}
		}
	}
}

// hold collects the text of an entry, unless it is held: one that did not fit
// into the last archive begins the next.
func (b *bundle) hold(ctx context.Context, at int) {
	if b.held != nil && b.held.at == at {
		return
	}
	text, err := b.entries[at].piece.collect(ctx, b.known)
	if room := int(b.limit - spare); len(text) > room {
		text = text[len(text)-room:]
	}
	b.held = &held{at, text, err}
}

// add writes one entry. The error is the archive's: what is wrong with the entry
// goes into the report.
func (b *bundle) add(archive *tar.Writer, e entry, report io.Writer) error {
	if e.file == nil {
		text, err := b.held.text, b.held.err
		b.held = nil
		if err != nil {
			fmt.Fprintf(report, "%s: %v\n", e.name, err)
		}
		if len(text) == 0 {
			return nil
		}
		return addText(archive, b.path(e.name), text)
	}
	from, err := e.file.Open()
	if err != nil {
		fmt.Fprintf(report, "%s: %v\n", e.name, err)
		return nil
	}
	defer from.Close()
	if seeker, ok := from.(io.Seeker); ok && e.offset > 0 {
		if _, err := seeker.Seek(e.offset, io.SeekStart); err != nil {
			fmt.Fprintf(report, "%s: %v\n", e.name, err)
			return nil
		}
	}
	if err := archive.WriteHeader(header(b.path(e.name), e.size)); err != nil {
		return err
	}
	written, err := io.CopyN(archive, from, e.size)
	if written < e.size { // it has shrunk; the archive needs the size that it announced
		fmt.Fprintf(report, "%s: only %d of %d bytes could be read: %v\n", e.name, written, e.size, err)
		_, err = io.CopyN(archive, zeros{}, e.size-written)
	}
	return err
}

func addText(archive *tar.Writer, name string, text []byte) error {
	if err := archive.WriteHeader(header(name, int64(len(text)))); err != nil {
		return err
	}
	_, err := archive.Write(text)
	return err
}

func header(name string, size int64) *tar.Header {
	return &tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: time.Now(), Typeflag: tar.TypeReg}
}

// counter counts what goes through it.
type counter struct {
	out io.Writer
	n   int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.n += int64(n)
	return n, err
}

// zeros is an endless row of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

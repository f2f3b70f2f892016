// Package logs gathers a host's logs into one tar.gz and sends it to the hub as
// it is made: nothing is written to the disk, which is memory in a live image.
// A [Piece] is one file of the archive; pieces that cannot be had are named in
// report.logs instead of failing the whole. Secrets are blotted out.
package logs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ironflow/ironflow/agent/redact"
)

// maxPiece bounds one file of the archive; of a longer one the end is kept.
const maxPiece = 32 << 20

// pieceTimeout bounds the collection of one file.
const pieceTimeout = 30 * time.Second

// Piece is one file of the archive.
type Piece struct {
	// Name is the file's name in the archive.
	Name string
	// Read returns its text. A piece that does not exist on this host returns nil, nil.
	Read func(ctx context.Context) ([]byte, error)
}

// Write makes the archive: a folder logs_host_HOSTID with all pieces, and
// report.logs with what could not be collected.
func Write(ctx context.Context, w io.Writer, hostID string, pieces []Piece) error {
	zip := gzip.NewWriter(w)
	archive := tar.NewWriter(zip)
	folder := "logs_host_" + hostID + "/"
	var report bytes.Buffer
	for _, piece := range pieces {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text, err := read(ctx, piece)
		if err != nil {
			fmt.Fprintf(&report, "%s: %v\n", piece.Name, err)
		}
		if len(text) == 0 {
			continue
		}
		if err := add(archive, folder+piece.Name, text); err != nil {
			return err
		}
	}
	if report.Len() > 0 {
		if err := add(archive, folder+"report.logs", redact.Secrets(report.Bytes())); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zip.Close()
}

func read(ctx context.Context, piece Piece) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pieceTimeout)
	defer cancel()
	text, err := piece.Read(ctx)
	if len(text) > maxPiece {
		text = text[len(text)-maxPiece:]
	}
	return redact.Secrets(text), err
}

func add(archive *tar.Writer, name string, text []byte) error {
	header := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), ModTime: time.Now(), Typeflag: tar.TypeReg}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := archive.Write(text)
	return err
}

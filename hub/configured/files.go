package configured

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/filestore"
)

// Files tell where the hub keeps files.
type Files v1alpha1.Files

func (f Files) s3(dataDir string, log *slog.Logger) filestore.S3Options {
	return filestore.S3Options{
		Address: f.Address, Endpoint: f.Endpoint, Region: f.Region, Addressing: f.Addressing, CAFile: f.CAFile, CredentialsFile: f.CredentialsFile,
		Incoming: filepath.Join(dataDir, "incoming"), Log: log,
	}
}

// Check refuses what cannot work.
func (f Files) Check() error {
	switch {
	case filestore.IsS3(f.Address):
		if err := f.s3("", nil).Check(); err != nil {
			return fmt.Errorf("--files: %w", err)
		}
	case strings.Contains(f.Address, "://"):
		return fmt.Errorf("--files is neither s3://BUCKET/PREFIX nor a folder")
	}
	return nil
}

// FileStore is a store that has to be closed.
type FileStore interface {
	filestore.Store
	io.Closer
}

// Open opens the hub's file store: S3 where it is set, a folder otherwise.
func (f Files) Open(ctx context.Context, dataDir string, log *slog.Logger) (FileStore, error) {
	if filestore.IsS3(f.Address) {
		return filestore.OpenS3(ctx, f.s3(dataDir, log))
	}
	return filestore.OpenDirectory(cmp.Or(f.Address, filepath.Join(dataDir, "logs")))
}

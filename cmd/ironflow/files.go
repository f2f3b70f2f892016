package main

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

// fileSettings tell where the hub keeps files.
type fileSettings v1alpha1.Files

func (f fileSettings) s3(dataDir string, log *slog.Logger) filestore.S3Options {
	return filestore.S3Options{
		Address: f.Address, Endpoint: f.Endpoint, Region: f.Region, Addressing: f.Addressing, CAFile: f.CAFile, CredentialsFile: f.CredentialsFile,
		Incoming: filepath.Join(dataDir, "incoming"), Log: log,
	}
}

// check refuses what cannot work.
func (f fileSettings) check() error {
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

// fileStore is a store that has to be closed.
type fileStore interface {
	filestore.Store
	io.Closer
}

// openFiles opens the hub's file store: S3 where it is set, a folder otherwise.
func openFiles(ctx context.Context, s configuration, log *slog.Logger) (fileStore, error) {
	if filestore.IsS3(s.Files.Address) {
		return filestore.OpenS3(ctx, fileSettings(s.Files).s3(s.Store.DataDir, log))
	}
	return filestore.OpenDirectory(cmp.Or(s.Files.Address, filepath.Join(s.Store.DataDir, "logs")))
}

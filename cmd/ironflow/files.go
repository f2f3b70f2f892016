package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/hub/filestore"
)

// fileSettings tell where the hub keeps files.
type fileSettings struct {
	// address is a folder or s3://BUCKET/PREFIX; empty for a folder in dataDir. The
	// others are for S3.
	address, endpoint, region, addressing, ca, credentials string
}

// settings are the flags of the file store.
func (f *fileSettings) settings() []setting {
	return []setting{
		{"files", "IRONFLOW_FILES", "", "where collected logs are kept: s3://BUCKET/PREFIX on a server that speaks S3, for several replicas, or a folder; empty for logs in data-dir", text(&f.address)},
		{"files-endpoint", "S3_ENDPOINT_URL", "", "URL of the S3 server of files, https://HOST:PORT; empty for Amazon's of files-region", text(&f.endpoint)},
		{"files-region", "S3_REGION", "us-east-1", "region of the S3 server of files", text(&f.region)},
		{"files-addressing", "IRONFLOW_FILES_ADDRESSING", filestore.AddressingAuto, "how requests to the S3 server of files name the bucket: path, host, or auto (host for Amazon, path for others)", text(&f.addressing)},
		{"files-ca", "IRONFLOW_FILES_CA_FILE", "", "file with certificate authorities that the S3 server of files is trusted by, besides the system's", text(&f.ca)},
		{"files-credentials-file", "IRONFLOW_FILES_CREDENTIALS_FILE", "", "file with credentials of the S3 server of files: aws_access_key_id and aws_secret_access_key below [default], read for each request; empty for the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", text(&f.credentials)},
	}
}

func (f *fileSettings) s3(dataDir string, log *slog.Logger) filestore.S3Options {
	return filestore.S3Options{
		Address: f.address, Endpoint: f.endpoint, Region: f.region, Addressing: f.addressing, CAFile: f.ca, CredentialsFile: f.credentials,
		Incoming: filepath.Join(dataDir, "incoming"), Log: log,
	}
}

// check refuses what cannot work.
func (f *fileSettings) check() error {
	switch {
	case filestore.IsS3(f.address):
		if err := f.s3("", nil).Check(); err != nil {
			return fmt.Errorf("--files: %w", err)
		}
	case strings.Contains(f.address, "://"):
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
func openFiles(ctx context.Context, s settings, log *slog.Logger) (fileStore, error) {
	if filestore.IsS3(s.files.address) {
		return filestore.OpenS3(ctx, s.files.s3(s.dataDir, log))
	}
	return filestore.OpenDirectory(cmp.Or(s.files.address, filepath.Join(s.dataDir, "logs")))
}

package filestore

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// defaultPatience is longer than a server takes that is only busy, and shorter
	// than clients wait for an answer.
	defaultPatience = 30 * time.Second
	// connectTime bounds the making of a connection.
	connectTime = 5 * time.Second
	// tries is how often a request is made; those that fail at once are repeated
	// within about a second.
	tries = 3
	// connections to the server that are kept open while nothing is asked.
	connections = 16
	// defaultRegion is what servers other than Amazon's take for theirs.
	defaultRegion = "us-east-1"
)

// Where a request names the bucket.
const (
	// AddressingAuto is the host name for Amazon and the path for others.
	AddressingAuto = "auto"
	// AddressingPath is https://HOST/BUCKET/NAME.
	AddressingPath = "path"
	// AddressingHost is https://BUCKET.HOST/NAME.
	AddressingHost = "host"
)

// S3Options say which bucket holds the files, and how its server is reached.
type S3Options struct {
	// Address is s3://BUCKET or s3://BUCKET/PREFIX. The bucket has to exist.
	Address string
	// Endpoint is the server's URL, https://HOST:PORT; empty for Amazon's of the region.
	Endpoint string
	// Region is the server's; empty for us-east-1.
	Region string
	// Addressing is where requests name the bucket: AddressingAuto (also if empty),
	// AddressingPath or AddressingHost.
	Addressing string
	// CAFile holds certificates in PEM form that the server is trusted for, besides
	// the system's.
	CAFile string
	// CredentialsFile holds aws_access_key_id and aws_secret_access_key in the format
	// of AWS's shared credentials file. It is read for each request, so that it may
	// change. Without one, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY count.
	CredentialsFile string
	// Incoming is a folder of this machine, made if there is none, for files that
	// are on their way to the server.
	Incoming string
	// Patience is how long the server may let an operation wait without any progress;
	// zero means 30 s.
	Patience time.Duration
	// Log is told when the server is away at the start; it may be nil.
	Log *slog.Logger
}

// Check refuses what cannot work or must not be, such as an address that holds
// credentials. It asks nobody.
func (o S3Options) Check() error {
	_, err := o.store()
	return err
}

// store makes what speaks to the server, and knows where in it the files are.
func (o S3Options) store() (*S3, error) {
	bucket, prefix, err := parseAddress(o.Address)
	if err != nil {
		return nil, err
	}
	region := cmp.Or(o.Region, defaultRegion)
	endpoint, err := parseEndpoint(cmp.Or(o.Endpoint, "https://s3."+region+".amazonaws.com"))
	if err != nil {
		return nil, err
	}
	lookup, known := map[string]minio.BucketLookupType{
		"": minio.BucketLookupAuto, AddressingAuto: minio.BucketLookupAuto, AddressingPath: minio.BucketLookupPath, AddressingHost: minio.BucketLookupDNS,
	}[o.Addressing]
	if !known {
		return nil, fmt.Errorf("addressing %q: want %s, %s or %s", o.Addressing, AddressingAuto, AddressingPath, AddressingHost)
	}
	if _, err := (keys{o.CredentialsFile}).Retrieve(); err != nil {
		return nil, err
	}
	transport, err := o.transport()
	if err != nil {
		return nil, err
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: credentials.New(keys{o.CredentialsFile}), Secure: endpoint.Scheme == "https", Transport: transport,
		Region: region, BucketLookup: lookup, MaxRetries: tries,
	})
	if err != nil {
		return nil, err
	}
	return &S3{client: minio.Core{Client: client}, http: transport, bucket: bucket, prefix: prefix, patience: cmp.Or(o.Patience, defaultPatience)}, nil
}

func (o S3Options) transport() (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		raw, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("certificates of the server: %w", err)
		}
		if config.RootCAs, err = x509.SystemCertPool(); err != nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("certificates of the server: %s holds none in PEM form", o.CAFile)
		}
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: connectTime}).DialContext, TLSClientConfig: config,
		TLSHandshakeTimeout: connectTime, MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute,
		DisableCompression: true, // a file arrives as it is
	}, nil
}

// OpenS3 opens the files of a bucket. A server that is away is no error: its
// operations are, until it is back. An error means that the settings cannot work,
// or that the server refuses them.
func OpenS3(ctx context.Context, o S3Options) (*S3, error) {
	s, err := o.store()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Incoming, 0o700); err != nil {
		return nil, err
	}
	if s.incoming, err = os.OpenRoot(filepath.Clean(o.Incoming)); err != nil {
		return nil, err
	}
	switch err := s.Ready(ctx); {
	case err == nil:
	case !errors.Is(err, ErrUnavailable):
		return nil, errors.Join(err, s.Close())
	case o.Log != nil:
		o.Log.Warn("the file store does not answer; files can neither be stored nor read until it does", "error", err)
	}
	return s, nil
}

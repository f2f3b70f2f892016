package filestore

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// IsS3 reports whether the address is meant to be one of S3 rather than a folder.
func IsS3(address string) bool { return strings.HasPrefix(address, "s3:") }

// parseAddress splits s3://BUCKET/PREFIX. Its errors never repeat the address,
// which may hold what should not be there.
func parseAddress(address string) (bucket, prefix string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return "", "", errors.New("the address is not s3://BUCKET or s3://BUCKET/PREFIX")
	}
	if err := bare(u); err != nil {
		return "", "", fmt.Errorf("the address %w", err)
	}
	if err := s3utils.CheckValidBucketNameStrict(u.Host); err != nil {
		return "", "", errors.New("the address does not begin with the name of a bucket: 3 to 63 lower-case letters, digits, dots and dashes")
	}
	prefix = strings.Trim(u.Path, "/")
	if err := checkFolder(prefix); err != nil {
		return "", "", fmt.Errorf("the prefix in the address: %w", err)
	}
	return u.Host, prefix, nil
}

// parseEndpoint reads the server's URL. Its errors never repeat it.
func parseEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("the endpoint is not a URL such as https://HOST:PORT, without a path")
	}
	if err := bare(u); err != nil {
		return nil, fmt.Errorf("the endpoint %w", err)
	}
	return u, nil
}

// bare refuses what others could see in the list of processes and in logs.
func bare(u *url.URL) error {
	switch {
	case u.User != nil:
		return errors.New("holds credentials, which others can see; put them into a file, or into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("ends in a query or a fragment; set what it says by the settings of their own, and credentials by a file")
	}
	return nil
}

package filestore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// keys gives the client its credentials anew for each request, so that they may
// change while the program runs.
type keys struct {
	// file has the format of AWS's shared credentials file; without one, the usual
	// environment variables count.
	file string
}

// RetrieveWithCredContext implements [credentials.Provider].
func (k keys) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return k.Retrieve()
}

// IsExpired implements [credentials.Provider].
func (keys) IsExpired() bool { return true }

// Retrieve implements [credentials.Provider].
func (k keys) Retrieve() (credentials.Value, error) {
	read, where := os.Getenv, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set, and there is no file with credentials"
	if k.file != "" {
		raw, err := os.ReadFile(k.file)
		if err != nil {
			return credentials.Value{}, fmt.Errorf("credentials: %w", err)
		}
		found := readKeys(raw)
		read = func(name string) string { return found[strings.ToLower(name)] }
		where = "file " + k.file + " has not both aws_access_key_id = … and aws_secret_access_key = … below [default]"
	}
	v := credentials.Value{
		AccessKeyID: read("AWS_ACCESS_KEY_ID"), SecretAccessKey: read("AWS_SECRET_ACCESS_KEY"), SessionToken: read("AWS_SESSION_TOKEN"),
		SignerType: credentials.SignatureV4,
	}
	if v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return credentials.Value{}, errors.New("credentials: " + where)
	}
	return v, nil
}

// readKeys reads the section [default] of a shared credentials file, or what
// stands before the first section.
func readKeys(raw []byte) map[string]string {
	found, section := map[string]string{}, "default"
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch name, value, ok := strings.Cut(line, "="); {
		case strings.HasPrefix(line, "["):
			section = strings.TrimSpace(strings.Trim(line, "[]"))
		case ok && section == "default" && !strings.HasPrefix(line, "#"):
			found[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return found
}

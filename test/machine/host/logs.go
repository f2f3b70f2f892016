package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// maxLog bounds each file of the log archive; the end is what counts.
const maxLog = 4 << 20

// Logs packs (tar.gz) the named files of the machine and its run-time state, as
// the ramdisk does for Ironic. Files that are not there are left out; nothing
// from /etc comes along, which holds the secrets.
func Logs(root string, files map[string]string) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	add := func(name, file string) error {
		raw, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		raw = raw[max(0, len(raw)-maxLog):]
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(raw))}); err != nil {
			return err
		}
		_, err = t.Write(raw)
		return err
	}
	for name, file := range files {
		if err := add(name, file); err != nil {
			return nil, err
		}
	}
	state, err := filepath.Glob(filepath.Join(root, hostfile.RunDir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range state {
		name := path.Join(strings.TrimPrefix(hostfile.RunDir, "/"), filepath.Base(file))
		if err := add(name, file); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

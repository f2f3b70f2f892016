package coreos

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Where the text user interface of the live image writes its log,
// and NetworkManager its connections.
const (
	tuiFolder   = "/var/log/agent"
	tuiLog      = tuiFolder + "/agent-tui.log"
	connections = "/etc/NetworkManager/system-connections"
)

// maxKeyfile bounds what is read of a connection.
const maxKeyfile = 1 << 20

// networkConfigured tells whether a person has set up the network of the live
// image in its text user interface: the interface ran, and a connection is not
// older than its start. The installed system is then given the same network.
func networkConfigured(dir hostfile.Dir) (bool, error) {
	if _, err := os.Stat(dir.Path(tuiLog)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	began, err := birth(dir.Path(tuiFolder))
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(dir.Path(connections))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxKeyfile || info.ModTime().Before(began) {
			continue
		}
		if isConnection(filepath.Join(dir.Path(connections), entry.Name())) {
			return true, nil
		}
	}
	return false, nil
}

// birth is when a file was made; where the file system does not keep that, when
// its content was last changed.
func birth(path string) (time.Time, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME|unix.STATX_MTIME, &st); err != nil {
		return time.Time{}, &fs.PathError{Op: "statx", Path: path, Err: err}
	}
	at := st.Mtime
	if st.Mask&unix.STATX_BTIME != 0 {
		at = st.Btime
	}
	return time.Unix(at.Sec, int64(at.Nsec)), nil
}

// isConnection looks for the group that every keyfile of a connection has.
func isConnection(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.TrimSpace(lines.Text()) == "[connection]" {
			return true
		}
	}
	return false
}

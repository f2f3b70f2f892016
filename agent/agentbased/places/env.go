package places

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// maxEnv bounds an environment file.
const maxEnv = 1 << 20

// Settings returns what all environment files of the host say, the later of these
// winning: the hub's, those of the start of the cluster and of the added nodes, the
// rendezvous host's, node zero's, the client's. They are read from their files, and
// not from the process's environment, because most of them appear after a unit began.
func Settings(dir hostfile.Dir) (map[string]string, error) {
	return settings(dir, StartCluster, AddNodes, RendezvousHost, NodeZero, ClientConfig)
}

// ImageSettings returns what came with the image, or with the config image: the same at each boot.
func ImageSettings(dir hostfile.Dir) (map[string]string, error) {
	return settings(dir, StartCluster, AddNodes, RendezvousHost)
}

// settings are those of the hub's files, and of further ones.
func settings(dir hostfile.Dir, further ...string) (map[string]string, error) {
	files, err := fs.Glob(os.DirFS(dir.Path(ServiceSettings)), "*.env")
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for i, name := range files {
		files[i] = path.Join(ServiceSettings, name)
	}
	all := map[string]string{}
	var wrong []error
	for _, file := range append(files, further...) {
		values, err := ReadEnv(dir, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			wrong = append(wrong, err)
		}
		maps.Copy(all, values)
	}
	return all, errors.Join(wrong...)
}

// ReadEnv reads one environment file. A missing one is [fs.ErrNotExist]; other errors
// name file and line.
func ReadEnv(dir hostfile.Dir, file string) (map[string]string, error) {
	f, err := os.Open(dir.Path(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxEnv+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(raw) > maxEnv {
		return nil, fmt.Errorf("%s is larger than %d bytes", file, maxEnv)
	}
	values, err := ParseEnv(string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return values, nil
}

// FormatEnv renders an environment file that [ParseEnv] and systemd read back.
func FormatEnv(values map[string]string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out.WriteString(name + "=" + `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(values[name]) + "\"\n")
	}
	return out.String()
}

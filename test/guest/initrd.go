package guest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

// modulesDir and orderFile are in the guest's file system.
const (
	modulesDir = "modules"
	orderFile  = "order"
)

// order is what the guest is told.
type order struct {
	Args []string `json:"args"`
	Env  []string `json:"env"`
	// Dir is the working directory; it comes with this computer's files.
	Dir string `json:"dir,omitempty"`
	// Binary is the test binary's own path, where the guest sees this computer's files.
	Binary string `json:"binary,omitempty"`
}

func (m Guest) order(binary string) (order, error) {
	if !m.Files {
		return order{Args: m.Args, Env: append([]string{"CI=true", "HOME=/tmp", "PATH=/"}, m.Env...)}, nil
	}
	dir, err := os.Getwd()
	env := []string{"CI=true"} // in the guest, nothing is skipped
	for _, name := range []string{"HOME", "PATH", "XDG_CACHE_HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return order{Args: m.Args, Env: append(env, m.Env...), Dir: dir, Binary: binary}, err
}

// initialFiles packs the guest's file system.
func (m Guest) initialFiles(kernel, binary string) (string, error) {
	told, err := m.order(binary)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(told)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "ironflow-guest-*.cpio")
	if err != nil {
		return "", err
	}
	w := cpio.NewWriter(f)
	add := func(name string, perm uint32, from string) error {
		raw, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return w.File(name, perm, raw)
	}
	modules, err := filepath.Glob(filepath.Join(kernel, modulesDir, "*.ko"))
	if err == nil {
		err = add("init", 0o755, binary)
	}
	for _, module := range modules {
		err = errors.Join(err, add(filepath.Join(modulesDir, filepath.Base(module)), 0o644, module))
	}
	err = errors.Join(err, w.File(orderFile, 0o644, raw), w.Close(), f.Close())
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

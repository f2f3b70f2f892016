package cli

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

// TestGPUConfiguration gives the program a machine with one PCI function, and a
// file that says what counts as a GPU.
func TestGPUConfiguration(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	t.Setenv(hostfile.RootEnv, root)
	for path, content := range map[string]string{
		"sys/bus/pci/devices/0000:3b:00.0/class":  "0x0b4000\n",
		"sys/bus/pci/devices/0000:3b:00.0/vendor": "0x10de\n",
		"sys/bus/pci/devices/0000:3b:00.0/device": "0x20b0\n",
		"etc/gpus.yaml": "vendors:\n  - '0b40 10de'\n",
		"etc/bad.yaml":  "vendors:\n  - nvidia\n",
	} {
		path = filepath.Join(root, path)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	}
	code, out, errs := call(t, "inventory")
	g.Expect(code).To(BeZero(), errs)
	g.Expect(out).To(ContainSubstring(`"gpus":[]`))
	code, out, errs = call(t, "inventory", "--gpu-config-file", "/etc/gpus.yaml")
	g.Expect(code).To(BeZero(), errs)
	g.Expect(out).To(ContainSubstring(`"gpus":[{"address":"0000:3b:00.0","device_id":"20b0","name":"GA100 [A100 SXM4 40GB]","vendor":"NVIDIA Corporation","vendor_id":"10de"}]`))
	for _, file := range []string{"/etc/bad.yaml", "/etc/missing.yaml"} {
		code, _, _ = call(t, "inventory", "--gpu-config-file", file)
		g.Expect(code).To(Equal(1), file)
	}
}

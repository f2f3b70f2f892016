package guest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

func TestAProgramThatNeedsALoaderIsRefused(t *testing.T) {
	g := NewWithT(t)
	g.Expect(static("/bin/sh")).To(MatchError(ContainSubstring("CGO_ENABLED=0")))
	g.Expect(static("/etc/passwd")).NotTo(Succeed())
}

func TestInitialFiles(t *testing.T) {
	g := NewWithT(t)
	kernel, binary := t.TempDir(), filepath.Join(t.TempDir(), "tests")
	g.Expect(os.Mkdir(filepath.Join(kernel, modulesDir), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(kernel, modulesDir, "100-veth.ko"), []byte("module"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(binary, []byte("program"), 0o600)).To(Succeed())
	file, err := Guest{Args: []string{"-test.v", "-test.run=a b"}}.initialFiles(kernel, binary)
	g.Expect(err).NotTo(HaveOccurred())
	defer os.Remove(file)
	f, err := os.Open(file)
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	content := map[string]string{}
	for r := cpio.NewReader(f, 1<<20); ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		if e.IsRegular() {
			content[e.Name] = string(e.Data)
		}
	}
	g.Expect(content).To(Equal(map[string]string{
		"init": "program", "modules/100-veth.ko": "module", "order": `{"args":["-test.v","-test.run=a b"],"env":["CI=true","HOME=/tmp","PATH=/"]}`,
	}))
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
)

// bill is what is read of a bill of materials (CycloneDX) here.
type bill struct {
	Components []struct {
		Ref     string `json:"bom-ref"`
		Type    string
		Name    string
		Version string
		Hashes  []struct{ Alg, Content string }
	}
	Dependencies []struct {
		Ref       string
		DependsOn []string
	}
}

// billOfMaterials reads the bill that the build of the image has left: each file of the image is in it with its checksum, and the
// modules are those of go.mod in their versions.
func (i *shippedImage) billOfMaterials() {
	i.t.Helper()
	path := filepath.Join(i.out, "ironflow-v0.0.1-image-linux-"+runtime.GOARCH+".cdx.json")
	raw, err := os.ReadFile(path)
	i.Expect(err).NotTo(HaveOccurred())
	var b bill
	i.Expect(json.Unmarshal(raw, &b)).To(Succeed())

	var module struct {
		Require []struct{ Path, Version string }
	}
	i.Expect(json.Unmarshal([]byte(i.command("go", "mod", "edit", "-json", "../../go.mod")), &module)).To(Succeed())
	required := map[string]string{}
	for _, m := range module.Require {
		required[m.Path] = m.Version
	}
	sums, modules := map[string]string{}, map[string]string{}
	for _, c := range b.Components {
		switch {
		case strings.HasPrefix(c.Ref, "file:"):
			i.Expect(c.Hashes).To(HaveLen(1), c.Ref)
			sums[strings.TrimPrefix(c.Ref, "file:")] = c.Hashes[0].Content
		case c.Name == "stdlib":
			i.Expect("go" + c.Version).To(Equal(runtime.Version()))
		default:
			i.Expect(required).To(HaveKeyWithValue(c.Name, c.Version), "it is of go.mod")
			modules[c.Name] = c.Version
		}
	}
	for _, name := range []string{"github.com/spf13/cobra", "k8s.io/client-go", "sigs.k8s.io/controller-runtime"} {
		i.Expect(modules).To(HaveKey(name))
	}
	i.Expect(filepath.WalkDir(i.root, func(file string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(file)
		sum := sha256.Sum256(content)
		i.Expect(sums).To(HaveKeyWithValue(strings.TrimPrefix(file, i.root), hex.EncodeToString(sum[:])))
		return err
	})).To(Succeed())
	program := slices.IndexFunc(b.Dependencies, func(d struct {
		Ref       string
		DependsOn []string
	},
	) bool {
		return d.Ref == "file:/ironflow"
	})
	i.Expect(program).To(BeNumerically(">=", 0))
	i.Expect(b.Dependencies[program].DependsOn).To(ContainElement("pkg:golang/k8s.io/client-go@" + required["k8s.io/client-go"]))
}

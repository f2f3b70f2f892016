package image_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/image"
)

// rewritten are options with one text of one file replaced by another one.
func rewritten(t *testing.T, o image.Options, file, old, write string) image.Options {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS(o.Dir))).To(Succeed())
	path := filepath.Join(dir, file)
	raw, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(ContainSubstring(old))
	g.Expect(os.WriteFile(path, bytes.Replace(raw, []byte(old), []byte(write), 1), 0o600)).To(Succeed())
	o.Dir = dir
	return o
}

// named are options of a cluster with another name.
func named(t *testing.T, name string) image.Options {
	t.Helper()
	o := rewritten(t, configImage(t), "install-config.yaml", "name: edge", "name: "+name)
	return rewritten(t, o, "agent-config.yaml", "name: edge", "name: "+name)
}

// makeIn makes the image of the options in a folder that may have an earlier one.
func makeIn(t *testing.T, o image.Options, b image.Base, out string) error {
	t.Helper()
	p := plan(t, o)
	id, err := image.LoadIdentity(p, image.Authorities{}, out, time.Now())
	if err == nil {
		_, err = image.Build(t.Context(), p, id, b, out)
	}
	return err
}

// TestKeysAreOfOneCluster: who administers one cluster would be the other one's administrator.
func TestKeysAreOfOneCluster(t *testing.T) {
	g := NewWithT(t)
	out := t.TempDir()
	g.Expect(makeIn(t, configImage(t), image.Base{}, out)).To(Succeed())
	before := contents(t, out)
	for name, tc := range map[string]struct {
		o    image.Options
		want string
	}{
		"another name":   {named(t, "other"), "other.lab.example"},
		"another domain": {rewritten(t, configImage(t), "install-config.yaml", "baseDomain: lab.example", "baseDomain: site2.example"), "edge.site2.example"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, to := range []string{out, copied(t, out)} {
				want := MatchError(And(
					ContainSubstring("the keys in "+filepath.Join(to, "auth")+" are of cluster edge.lab.example, and the input describes cluster "+tc.want),
					ContainSubstring("give each cluster an output folder of its own (--output-dir)")))
				g.Expect(makeIn(t, tc.o, image.Base{}, to)).To(want)
				g.Expect(plan(t, tc.o).CheckFolder(to)).To(want, "also before anything is made")
				g.Expect(contents(t, to)).To(Equal(before))
			}
		})
	}
	g.Expect(makeIn(t, configImage(t), image.Base{}, out)).To(Succeed(), "it is its own")
	g.Expect(plan(t, image.Options{Dir: t.TempDir(), Workflow: "appliance", ReleaseImage: release}).CheckFolder(out)).To(Succeed(), "a factory image has no keys")
}

// TestAFolderWithoutANameIsTakenOnce: an earlier program has made it.
func TestAFolderWithoutANameIsTakenOnce(t *testing.T) {
	g := NewWithT(t)
	out := t.TempDir()
	g.Expect(makeIn(t, configImage(t), image.Base{}, out)).To(Succeed())
	g.Expect(os.Remove(filepath.Join(out, image.ClusterFile))).To(Succeed())
	key, err := os.ReadFile(filepath.Join(out, image.IdentityFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(makeIn(t, named(t, "other"), image.Base{}, out)).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(out, image.IdentityFile))).To(Equal(key))
	g.Expect(makeIn(t, configImage(t), image.Base{}, out)).To(MatchError(ContainSubstring("are of cluster other.lab.example")))
}

// TestHostsThatJoinAndTheFolderOfTheirCluster: they know its name and its id, not its domain.
func TestHostsThatJoinAndTheFolderOfTheirCluster(t *testing.T) {
	g := NewWithT(t)
	out, b := t.TempDir(), base(t)
	g.Expect(makeIn(t, configImage(t), image.Base{}, out)).To(Succeed())
	g.Expect(makeIn(t, addNodes("nodes"), b, out)).To(Succeed())
	const id = "33333333-3333-4333-8333-333333333333"
	g.Expect(makeIn(t, rewritten(t, addNodes("nodes"), "add-nodes.env", id, "99999999-9999-4999-8999-999999999999"), b, out)).To(
		MatchError(And(ContainSubstring("are of cluster edge.lab.example ("+id+")"), ContainSubstring("cluster edge (99999999-9999-4999-8999-999999999999)"))))
	other := rewritten(t, configImage(t), "install-config.yaml", "baseDomain: lab.example", "baseDomain: site2.example")
	g.Expect(makeIn(t, other, image.Base{}, out)).To(MatchError(ContainSubstring("are of cluster edge.lab.example")), "the domain is still known")
}

// TestNobodyLosesThePassword: where it cannot be written, its hash is not kept either, and the
// next image has another one.
func TestNobodyLosesThePassword(t *testing.T) {
	g := NewWithT(t)
	out := t.TempDir()
	inTheWay := filepath.Join(out, image.Password)
	g.Expect(os.MkdirAll(inTheWay, 0o700)).To(Succeed())
	g.Expect(makeIn(t, configImage(t), image.Base{}, out)).NotTo(Succeed())
	g.Expect(filepath.Join(out, "auth/tls/kubeadmin-password.hash")).NotTo(BeAnExistingFile())
	g.Expect(os.Remove(inTheWay)).To(Succeed())
	g.Expect(makeIn(t, configImage(t), image.Base{}, out)).To(Succeed())
	g.Expect(inTheWay).To(BeARegularFile())
}

// contents are all files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := os.DirFS(dir)
	NewWithT(t).Expect(fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(root, name)
		all[name] = string(raw)
		return err
	})).To(Succeed())
	return all
}

// copied is a copy of a folder.
func copied(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir()
	NewWithT(t).Expect(os.CopyFS(out, os.DirFS(dir))).To(Succeed())
	return out
}

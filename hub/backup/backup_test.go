package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// folder is a data folder.
func folder(dir string) backup.Options {
	return backup.Options{DataDir: dir, Place: store.Place{SQLite: filepath.Join(dir, "hub.sqlite")}}
}

// full makes a data folder with keys and one cluster.
func full(t *testing.T, g *WithT) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"agent.key": "k1", "tls/ca.key": "k2", "tls/ca.crt": "c", "logs/host.log": "is not copied"} {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	s, err := store.OpenSQLite(t.Context(), folder(dir).Place.SQLite)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{{API: wire.Cluster{ID: "c"}}}})).To(Succeed())
	g.Expect(s.Close()).To(Succeed())
	return dir
}

func write(t *testing.T, g *WithT, dir string) []byte {
	var out bytes.Buffer
	_, err := backup.Write(t.Context(), folder(dir), time.Unix(1777629600, 0), &out)
	g.Expect(err).NotTo(HaveOccurred())
	return out.Bytes()
}

func TestBackupAndRestore(t *testing.T) {
	g := NewWithT(t)
	copied := write(t, g, full(t, g))
	dir := filepath.Join(t.TempDir(), "new")
	rows, err := backup.Restore(t.Context(), folder(dir), bytes.NewReader(copied))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rows).To(HaveKeyWithValue("clusters", int64(1)))
	for name, text := range map[string]string{"agent.key": "k1", "tls/ca.key": "k2", "tls/ca.crt": "c"} {
		g.Expect(os.ReadFile(filepath.Join(dir, name))).To(BeEquivalentTo(text))
		g.Expect(os.Stat(filepath.Join(dir, name))).To(HaveField("Mode()", BeEquivalentTo(0o600)))
	}
	g.Expect(filepath.Join(dir, "logs")).NotTo(BeADirectory())
	g.Expect(write(t, g, dir)).To(Equal(copied), "a copy of the copy is the same")
}

// TestRestoreTakesNothingAway: what is there already stays as it is.
func TestRestoreTakesNothingAway(t *testing.T) {
	g := NewWithT(t)
	old := full(t, g)
	copied := write(t, g, old)
	_, err := backup.Restore(t.Context(), folder(old), bytes.NewReader(copied))
	g.Expect(err).To(MatchError(ContainSubstring("rows of clusters already")))

	other := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(other, "agent.key"), []byte("another"), 0o600)).To(Succeed())
	_, err = backup.Restore(t.Context(), folder(other), bytes.NewReader(copied))
	g.Expect(err).To(MatchError(ContainSubstring("agent.key in the data folder is another")))
	g.Expect(os.ReadFile(filepath.Join(other, "agent.key"))).To(BeEquivalentTo("another"))
	g.Expect(filepath.Join(other, "hub.sqlite")).NotTo(BeAnExistingFile())
	g.Expect(filepath.Join(other, "tls")).NotTo(BeADirectory())
}

// TestRestoreWithoutItsKeys: records whose keys cannot be written are not put back, so
// that it can be done again.
func TestRestoreWithoutItsKeys(t *testing.T) {
	g := NewWithT(t)
	copied := write(t, g, full(t, g))
	dir := t.TempDir()
	g.Expect(os.Symlink("no/such/folder", filepath.Join(dir, "agent.key"))).To(Succeed())
	_, err := backup.Restore(t.Context(), folder(dir), bytes.NewReader(copied))
	g.Expect(err).To(MatchError(ContainSubstring("agent.key")))
	g.Expect(os.Remove(filepath.Join(dir, "agent.key"))).To(Succeed())
	rows, err := backup.Restore(t.Context(), folder(dir), bytes.NewReader(copied))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rows).To(HaveKeyWithValue("clusters", int64(1)))
	g.Expect(os.ReadFile(filepath.Join(dir, "agent.key"))).To(BeEquivalentTo("k1"))
}

func TestRestoreOfWhatIsNoBackup(t *testing.T) {
	g := NewWithT(t)
	copied := write(t, g, full(t, g))
	damaged := bytes.Clone(copied)
	damaged[len(damaged)/2] ^= 0xff
	for name, tc := range map[string]struct {
		file   []byte
		reason string
	}{
		"text":                 {[]byte("hello"), "no backup of the hub"},
		"half of it":           {copied[:len(copied)/2], "ends too early or is damaged"},
		"one bit":              {damaged, "ends too early or is damaged"},
		"nothing in it":        {archive(g), "has no records"},
		"a file of its own":    {archive(g, "keys/authorized_keys"), `"keys/authorized_keys"`},
		"a key in a folder":    {archive(g, "keys/logs/agent.key"), `"keys/logs/agent.key"`},
		"a file outside":       {archive(g, "keys/tls/.."), `"keys/tls/.."`},
		"one above the folder": {archive(g, "keys/../../agent.key"), `"keys/../../agent.key"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			_, err := backup.Restore(t.Context(), folder(dir), bytes.NewReader(tc.file))
			g.Expect(err).To(MatchError(ContainSubstring(tc.reason)))
			g.Expect(os.ReadDir(dir)).To(BeEmpty())
		})
	}
}

// archive is one with empty files of these names.
func archive(g *WithT, names ...string) []byte {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, name := range names {
		g.Expect(w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Typeflag: tar.TypeReg})).To(Succeed())
		_, err := io.WriteString(w, "")
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(w.Close()).To(Succeed())
	g.Expect(zipped.Close()).To(Succeed())
	return out.Bytes()
}

// TestEveryKeyOfTheDataFolderIsCopied, whatever part of the program has made it.
func TestEveryKeyOfTheDataFolderIsCopied(t *testing.T) {
	g := NewWithT(t)
	old := full(t, g)
	keys := []string{"agent.key", "image.key", "events.key", "cluster.key", "cluster.key.old"}
	for _, name := range keys {
		g.Expect(os.WriteFile(filepath.Join(old, name), []byte(name), 0o600)).To(Succeed())
	}
	dir := filepath.Join(t.TempDir(), "new")
	_, err := backup.Restore(t.Context(), folder(dir), bytes.NewReader(write(t, g, old)))
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range keys {
		g.Expect(os.ReadFile(filepath.Join(dir, name))).To(BeEquivalentTo(name))
	}
}

// TestABackupNeedsNoTemporaryFolder: the shipped image is made from nothing and read-only.
func TestABackupNeedsNoTemporaryFolder(t *testing.T) {
	g := NewWithT(t)
	dir := full(t, g)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	g.Expect(write(t, g, dir)).NotTo(BeEmpty())
	left, err := filepath.Glob(filepath.Join(dir, ".backup-*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
}

// TestABackupOfNothing: a misspelt folder is no empty backup.
func TestABackupOfNothing(t *testing.T) {
	_, err := backup.Write(t.Context(), backup.Options{DataDir: filepath.Join(t.TempDir(), "absent")}, time.Now(), io.Discard)
	NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring("there is no data folder"), ContainSubstring("name the hub's own folder by --data-dir"))))
}

// TestPullSecretsComeBack: the records of a backup have them sealed, and its keys open them.
func TestPullSecretsComeBack(t *testing.T) {
	g := NewWithT(t)
	opened := func(dir string) vault.Vault {
		keys, err := seal.Load(filepath.Join(dir, "cluster.key"))
		g.Expect(err).NotTo(HaveOccurred())
		return vault.Vault{Keys: keys}
	}
	const secret = `{"auths":{"registry.example":{"auth":"dXNlcjpodW50ZXIy"}}}`
	old, c := t.TempDir(), &store.Cluster{API: wire.Cluster{ID: "c"}}
	g.Expect(opened(old).KeepPullSecret(c, secret)).To(Succeed())
	s, err := store.OpenSQLite(t.Context(), folder(old).Place.SQLite)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{c}})).To(Succeed())
	g.Expect(s.Close()).To(Succeed())
	copied := write(t, g, old)
	zipped, err := gzip.NewReader(bytes.NewReader(copied))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(io.ReadAll(zipped)).NotTo(ContainSubstring("registry.example"))

	dir := filepath.Join(t.TempDir(), "new")
	_, err = backup.Restore(t.Context(), folder(dir), bytes.NewReader(copied))
	g.Expect(err).NotTo(HaveOccurred())
	s, err = store.OpenSQLite(t.Context(), folder(dir).Place.SQLite)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	g.Expect(s.View(t.Context(), func(r *store.Reader) error {
		back, err := r.Cluster("c")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(opened(dir).PullSecret(back)).To(Equal(secret))
		return nil
	})).To(Succeed())
}

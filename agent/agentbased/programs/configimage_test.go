package programs

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// applianceFile is a config image's file.
type applianceFile struct{ path, text string }

// medium writes a config image to where a host has its drive. Two dots stand for what "@@" is in
// paths: no writer of archives makes such members.
func medium(t *testing.T, dir hostfile.Dir, files ...applianceFile) {
	t.Helper()
	g := NewWithT(t)
	var members, archive, out bytes.Buffer
	w := cpio.NewWriter(&members)
	for _, f := range files {
		g.Expect(w.File(f.path, 0o600, []byte(f.text))).To(Succeed())
	}
	g.Expect(w.Close()).To(Succeed())
	z := gzip.NewWriter(&archive)
	_, err := z.Write(bytes.ReplaceAll(members.Bytes(), []byte("@@"), []byte("..")))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(z.Close()).To(Succeed())
	g.Expect(iso.Write(&out, places.ConfigImageLabel, iso.Written{Name: configimage.ArchiveName, Data: archive.Bytes()})).To(Succeed())
	g.Expect(places.Write(dir, "/dev/sr1", out.Bytes(), 0o600)).To(Succeed())
}

func setOf(release string) applianceFile {
	return applianceFile{places.ClusterImageSet, "spec: {releaseImage: '" + release + "'}\n"}
}

// TestLoadConfigISORefuses: the program as units start it says what is wrong with a medium, and
// leaves the host as it was; by its own list of files, and by that of the environment.
func TestLoadConfigISORefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		list  string
		files []applianceFile
		says  []string
	}{
		"a path that leads out": {"", []applianceFile{{"etc/@@/@@/root/.ssh/authorized_keys", "ssh-ed25519 AAAA stranger"}}, []string{`member "etc/..": this is no plain path`}},
		"another release, and files that are missing": {
			"",
			[]applianceFile{setOf("quay.example/r:2"), {places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n"}},
			[]string{"it is for the release quay.example/r:2, this host has the release quay.example/r:1", "files are missing: ", places.Manifests + "/infraenv.yaml"},
		},
		"a file that is none of the list": {
			places.RendezvousHost + "," + places.ClusterImageSet,
			[]applianceFile{setOf("quay.example/r:1"), {places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n"}, {"etc/shadow", "root::0"}},
			[]string{"files that are no settings of this appliance: /etc/shadow"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			t.Setenv(hostfile.RootEnv, dir.Root)
			t.Setenv(places.ConfigFilesEnv, tc.list)
			g.Expect(places.Write(dir, places.ClusterImageSet, []byte(setOf("quay.example/r:1").text), 0o600)).To(Succeed())
			medium(t, dir, tc.files...)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan int, 1)
			go func() {
				ended <- Main(ctx, program.Streams{Out: io.Discard, Err: io.Discard}, []string{BinaryName, "load-config-iso", "/dev/sr1"})
			}()
			says := func() string {
				raw, _ := os.ReadFile(dir.Path("/etc/motd.d/95_load-config-image"))
				return string(raw)
			}
			g.Eventually(says, "1m", "20ms").Should(HavePrefix("Installation cannot proceed: the config image on /dev/sr1 is refused: "))
			for _, want := range tc.says {
				g.Expect(says()).To(ContainSubstring(want))
			}
			stop()
			g.Eventually(ended, "1m").Should(Receive(Equal(0)))
			var all []string
			g.Expect(filepath.WalkDir(dir.Path("/etc/assisted"), func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					all = append(all, filepath.Base(path))
				}
				return err
			})).To(Succeed())
			g.Expect(all).To(Equal([]string{"cluster-image-set.yaml"}), "nothing is half copied")
			g.Expect(dir.Path("/etc/shadow")).NotTo(BeAnExistingFile())
		})
	}
}

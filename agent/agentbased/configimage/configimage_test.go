package configimage_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

// member is one of an archive that nobody checks: newc by hand.
func member(name string, mode uint32, data string) string {
	pad := func(n int) string { return strings.Repeat("\x00", (4-n%4)%4) }
	header := fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
	return header + name + "\x00" + pad(len(header)+len(name)+1) + data + pad(len(data))
}

func archive(members ...string) []byte {
	return zip(strings.Join(members, "") + member("TRAILER!!!", 0, ""))
}

func zip(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.Bytes()
}

const (
	regular = cpio.TypeRegular | 0o644
	folder  = cpio.TypeDir | 0o755
)

func TestAnArchive(t *testing.T) {
	g := NewWithT(t)
	c, err := configimage.Read(bytes.NewReader(append(archive(
		member(".", folder, ""), member("etc", folder, ""), member("/etc/assisted/b.yaml", cpio.TypeRegular|0o600, "b"), member("./etc/a", regular, ""),
	), zip(strings.Repeat("\x00", 512))...)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Files).To(Equal([]configimage.File{{Path: "/etc/a", Mode: 0o644, Data: []byte{}}, {Path: "/etc/assisted/b.yaml", Mode: 0o600, Data: []byte("b")}}))
	g.Expect(c.Sum).To(HaveLen(64))
}

func TestHostileArchives(t *testing.T) {
	zeros := strings.Repeat("\x00", 15<<20)
	for name, tc := range map[string]struct {
		raw  []byte
		want string
	}{
		"traversal":                {archive(member("../etc/shadow", regular, "")), `member "../etc/shadow": this is no plain path`},
		"traversal in the middle":  {archive(member("/etc/assisted/../shadow", regular, "")), "no plain path"},
		"traversal behind a dot":   {archive(member("./../x", regular, "")), "no plain path"},
		"dots in front":            {archive(member("..etc/x", regular, ""), member("etc/./x", regular, "")), "no plain path"},
		"two slashes":              {archive(member("/etc//x", regular, "")), "no plain path"},
		"a line break":             {archive(member("etc/a\nb", regular, "")), "no plain path"},
		"an escape sequence":       {archive(member("etc/\x1b[2J", regular, "")), "no plain path"},
		"no UTF-8":                 {archive(member("etc/\xff", regular, "")), "no plain path"},
		"a link":                   {archive(member("etc/assisted", cpio.TypeSymlink|0o777, "/tmp")), `member "etc/assisted" is neither a file nor a folder (mode 120777)`},
		"a device":                 {archive(member("etc/sda", 0o060660, "")), "neither a file nor a folder"},
		"a set-uid program":        {archive(member("etc/x", cpio.TypeRegular|0o4755, "")), "set-id and sticky bits"},
		"twice":                    {archive(member("etc/x", regular, "a"), member("/etc/x", regular, "b")), `member "/etc/x" is there twice`},
		"a file as a folder":       {archive(member("etc/x", regular, ""), member("etc/x/y", regular, "")), `member "/etc/x" is a file and a folder`},
		"a file and a folder":      {archive(member("etc/x", folder, ""), member("etc/x", regular, "")), "is a file and a folder"},
		"a second archive":         {append(archive(), archive(member("etc/x", regular, ""))...), "goes on behind its end"},
		"cut":                      {archive(member("etc/x", regular, "abc"))[:40], "unexpected EOF"},
		"not gzipped":              {[]byte("070701"), "the archive is not gzipped"},
		"no archive":               {zip("hello"), "not a newc cpio archive"},
		"a size that is not there": {zip(strings.Replace(member("etc/x", regular, ""), "00000000", "0FFFFFFF", 6)), "cpio archive"},
		"a bomb": {
			zip(member("a", regular, zeros) + member("b", regular, zeros) + member("c", regular, zeros) + member("d", regular, zeros) + member("e", regular, zeros)),
			"the archive is larger than 64 MiB",
		},
		"padding that does not end": {append(archive(), zip(strings.Repeat("\x00", 20<<20))...), "goes on behind its end"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configimage.Read(bytes.NewReader(tc.raw))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// A hidden file is another one than the file without the dot.
func TestNamesThatBeginWithADot(t *testing.T) {
	g := NewWithT(t)
	c, err := configimage.Read(bytes.NewReader(archive(member(".etc/x", regular, "a"), member("./etc/x", regular, "b"))))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Files).To(HaveLen(2))
	g.Expect([]string{c.Files[0].Path, c.Files[1].Path}).To(Equal([]string{"/.etc/x", "/etc/x"}))
}

func FuzzArchive(f *testing.F) {
	f.Add(member("etc/assisted", folder, "") + member("/etc/assisted/a.yaml", regular, "a: b\n") + member("TRAILER!!!", 0, ""))
	f.Add(member("../x", regular, "") + member("x/../../y", cpio.TypeSymlink, "/") + member("TRAILER!!!", 0, ""))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := configimage.Read(bytes.NewReader(zip(text)))
		if err != nil {
			return
		}
		g := NewWithT(t)
		seen := map[string]bool{}
		for _, file := range c.Files {
			g.Expect(filepath.IsLocal(strings.TrimPrefix(file.Path, "/"))).To(BeTrue(), file.Path)
			g.Expect(filepath.Clean(file.Path)).To(Equal(file.Path))
			g.Expect(file.Mode &^ 0o777).To(BeZero())
			g.Expect(seen[file.Path]).To(BeFalse())
			seen[file.Path] = true
		}
	})
}

func imageSet(release string) string { return "spec:\n  releaseImage: " + release + "\n" }

func TestWhatIsWrongWithAConfigImage(t *testing.T) {
	const setPath = "/etc/assisted/manifests/cluster-image-set.yaml"
	list, err := configimage.ParseList("/etc/assisted/rendezvous-host.env, " + setPath + ",/etc/assisted/extra-manifests,/etc/issue,/opt/agent/tls/")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(list).To(Equal(configimage.List{"/etc/assisted/rendezvous-host.env", setPath, "/etc/assisted/extra-manifests/", "/etc/issue", "/opt/agent/tls/"}))
	_, err = configimage.ParseList("/etc/../x")
	NewWithT(t).Expect(err).To(MatchError(`CONFIG_IMAGE_FILES: "/etc/../x" is no plain absolute path`))
	fine := []string{member("etc/assisted/rendezvous-host.env", regular, "NODE_ZERO_IP=192.0.2.1"), member(setPath, regular, imageSet("quay.io/r:1")), member("etc/issue", regular, "")}
	for name, tc := range map[string]struct {
		members []string
		host    string
		want    []string
	}{
		"nothing":           {fine, imageSet("quay.io/r:1"), nil},
		"other comments":    {fine, "# made at night\n" + imageSet(`"quay.io/r:1"`), nil},
		"the release":       {fine, imageSet("quay.io/r:2"), []string{"it is for the release quay.io/r:1, this host has the release quay.io/r:2"}},
		"the host has none": {fine, "spec: {}", []string{"this host's /etc/assisted/manifests/cluster-image-set.yaml: it has no spec.releaseImage"}},
		"everything": {
			[]string{member("etc/passwd", regular, ""), member("opt/agent/tls/x", regular, "")},
			imageSet("r"),
			[]string{
				"it does not say which release it is for", "files are missing: /etc/assisted/rendezvous-host.env, " + setPath + ", /etc/issue",
				"files that are no settings of this appliance: /etc/passwd",
			},
		},
		"a set that is no YAML": {append([]string{member(setPath, regular, "\t:")}, fine[0], fine[2]), imageSet("r"), []string{"its /etc/assisted/manifests/cluster-image-set.yaml: it is no YAML"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, err := configimage.Read(bytes.NewReader(archive(tc.members...)))
			g.Expect(err).NotTo(HaveOccurred())
			err = c.Check(list, []byte(tc.host))
			if tc.want == nil {
				g.Expect(err).NotTo(HaveOccurred())
			}
			for _, want := range tc.want {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
		})
	}
}

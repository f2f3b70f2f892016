package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/cli"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
)

// shelf is a mirror with one base image, and the folder that it is brought to.
type shelf struct {
	*WithT
	t                  *testing.T
	url, sum, dir, iso string
	ranges             []string
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	content := coreosiso.Read(t, "2022-09")
	sum := sha256.Sum256(content)
	s := &shelf{WithT: NewWithT(t), t: t, sum: hex.EncodeToString(sum[:]), dir: filepath.Join(t.TempDir(), "images")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/live.x86_64.iso" {
			http.NotFound(w, r)
			return
		}
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(server.Close)
	s.url, s.iso = server.URL+"/live.x86_64.iso", filepath.Join(s.dir, "live.x86_64.iso")
	for _, variable := range []string{"DEPLOY_ISO", "IRONFLOW_BASE_IMAGE_LIST", "IRONFLOW_DATA_DIR"} {
		t.Setenv(variable, "")
	}
	return s
}

// call runs `ironflow media` and returns what it prints, and what it tells beside that.
func (s *shelf) call(args ...string) (string, error) {
	c := cli.NewMediaCommand()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(args)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.ExecuteContext(context.WithoutCancel(s.t.Context()))
	return out.String(), err
}

// list writes a list with that digest.
func (s *shelf) list(sum string) string {
	file := filepath.Join(s.t.TempDir(), "list.yaml")
	s.Expect(os.WriteFile(file, []byte("images:\n- {url: \""+s.url+"\", sha256: "+sum+"}\n"), 0o600)).To(Succeed())
	return file
}

// TestMediaOfAURL goes on where an earlier download stopped, and downloads nothing twice.
func TestMediaOfAURL(t *testing.T) {
	s := newShelf(t)
	s.Expect(os.MkdirAll(s.dir, 0o755)).To(Succeed())
	s.Expect(os.WriteFile(s.iso+".part", coreosiso.Read(t, "2022-09")[:4096], 0o644)).To(Succeed())
	out, err := s.call("fetch", s.url, "--sha256", s.sum, "--dir", s.dir)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(And(ContainSubstring("(100%)"), HaveSuffix(s.iso+": downloaded\n")))
	s.Expect(s.ranges).To(Equal([]string{"bytes=4096-"}))
	s.Expect(os.ReadFile(s.iso + ".sha256")).To(BeEquivalentTo(s.sum + "  live.x86_64.iso\n"))

	out, err = s.call("fetch", s.url, "--sha256", s.sum, "--dir", s.dir)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(Equal(s.iso + ": is there already\n"))
	s.Expect(s.ranges).To(HaveLen(1))

	out, err = s.call("list", "--dir", s.dir)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(And(HavePrefix("FILE"), MatchRegexp(`live\.x86_64\.iso +x86_64 .*`+s.sum)))
	_, err = s.call("check", "--dir", s.dir)
	s.Expect(err).NotTo(HaveOccurred())
}

// TestMediaOfTheProgramsList finds list and folder by the variables of a pod.
func TestMediaOfTheProgramsList(t *testing.T) {
	s := newShelf(t)
	data := t.TempDir()
	t.Setenv("IRONFLOW_BASE_IMAGE_LIST", s.list(s.sum))
	t.Setenv("IRONFLOW_DATA_DIR", data)
	out, err := s.call("check")
	s.Expect(err).To(MatchError(ContainSubstring("1 of 1 base images cannot be used")))
	s.Expect(out).To(ContainSubstring("live.x86_64.iso  not there yet: nothing of it"))
	out, err = s.call("fetch")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(HaveSuffix(filepath.Join(data, "base", "live.x86_64.iso") + ": downloaded\n"))
	_, err = s.call("check")
	s.Expect(err).NotTo(HaveOccurred())
}

// TestMediaThatIsWrong is not taken, and said to be.
func TestMediaThatIsWrong(t *testing.T) {
	other := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		args func(*shelf) []string
		want string
	}{
		"a server without it": {func(s *shelf) []string {
			return []string{"fetch", strings.Replace(s.url, "live", "dead", 1), "--sha256", other, "--dir", s.dir}
		}, "404 Not Found"},
		"no digest":             {func(s *shelf) []string { return []string{"fetch", s.url, "--dir", s.dir} }, "--sha256 is needed"},
		"a digest that is none": {func(s *shelf) []string { return []string{"fetch", s.url, "--sha256", "abc", "--dir", s.dir} }, `--sha256 "abc" is no SHA-256: write its 64 hexadecimal digits`},
		"a digest of nothing":   {func(s *shelf) []string { return []string{"fetch", "--sha256", other, "--dir", s.dir} }, "belong to a URL"},
		"nothing to download":   {func(s *shelf) []string { return []string{"fetch", "--dir", s.dir} }, "nothing to download"},
		"no folder":             {func(s *shelf) []string { return []string{"fetch", s.url, "--sha256", s.sum} }, "no folder of base images"},
		"a folder without any":  {func(s *shelf) []string { return []string{"check", "--dir", s.t.TempDir()} }, "there is no base image"},
		"a folder that is not":  {func(s *shelf) []string { return []string{"list", "--dir", s.dir} }, "no such file"},
		"a broken base image":   {(*shelf).broken, "1 of 1 base images cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			_, err := s.call(c.args(s)...)
			s.Expect(err).To(MatchError(ContainSubstring(c.want)))
			s.Expect(s.iso).NotTo(BeAnExistingFile())
		})
	}
}

// broken is the check of a folder with a file that is no ISO.
func (s *shelf) broken() []string {
	dir := s.t.TempDir()
	s.Expect(os.WriteFile(filepath.Join(dir, "x.iso"), []byte("no ISO"), 0o600)).To(Succeed())
	return []string{"check", "--dir", dir}
}

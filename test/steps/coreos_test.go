//go:build e2e

package steps_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/ulikunitz/xz"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/confirm"
	"github.com/ironflow/ironflow/customdeploy/coreos"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	keyfile = "/etc/NetworkManager/system-connections/eno1.nmconnection"
	network = "[connection]\nid=eno1\ntype=ethernet\n"
	// diskSize is less than a disk without hints must have.
	diskSize = 1 << 30
)

// liveSystem is CoreOS's live system with one disk.
type liveSystem struct{ *livesystem.System }

func newLiveSystem(t *testing.T) *liveSystem {
	t.Helper()
	s := &liveSystem{livesystem.New(t, systemdtest.Boot(t), livesystem.Disk{Bytes: diskSize})}
	systemdtest.Install(t, s.Host, systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step"), hostfile.StepBinary)
	s.Run(t, "mkdir", "-p", filepath.Dir(keyfile))
	NewWithT(t).Expect(os.WriteFile(s.Host.Path(keyfile), []byte(network), 0o600)).To(Succeed())
	return s
}

// step runs a deploy step inside the machine.
func (s *liveSystem) step(t *testing.T, name string, info map[string]any) (int, report) {
	t.Helper()
	g := NewWithT(t)
	node := map[string]any{"uuid": nodeUUID, "instance_info": info, "driver_internal_info": map[string]any{
		"deploy_steps": []any{map[string]any{"step": coreos.Name, "interface": "deploy"}},
	}}
	in, err := json.Marshal(map[string]any{"node": node, "ports": []any{}, "args": map[string]any{}})
	g.Expect(err).NotTo(HaveOccurred())
	cmd := s.Command(t.Context(), hostfile.StepBinary, name)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &log
	_ = cmd.Run() // the exit code is looked at below
	t.Logf("%s%s", out.String(), log.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r report
	g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &r)).To(Succeed())
	return cmd.ProcessState.ExitCode(), r
}

// serveImage makes the image and serves it inside the machine's network.
func (s *liveSystem) serveImage(t *testing.T) (url, digest string) {
	t.Helper()
	raw, err := os.ReadFile(livesystem.MakeImage(t, "../fixtures/coreos-disk/make.sh"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	listener := s.Listen(t)
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "image.raw", time.Time{}, bytes.NewReader(raw))
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String() + "/image.raw", hex.EncodeToString(sum[:])
}

const userData = `{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/etc/motd", "contents": {"source": "data:,hello"}}]}}`

// TestInstallCoreOS runs the step with the real coreos-installer, from the wrong
// hint to the installed disk.
func TestInstallCoreOS(t *testing.T) {
	s := newLiveSystem(t)
	g := NewWithT(t)
	url, digest := s.serveImage(t)
	info := func(serial, digest string) map[string]any {
		return map[string]any{
			"root_device":  map[string]any{"serial": "s== " + serial},
			"image_source": url, "image_os_hash_algo": "sha256", "image_os_hash_value": digest,
			"configdrive": map[string]any{"user_data": userData, "meta_data": map[string]any{
				"coreos_append_karg": []any{"console=ttyS0,115200", "rd.neednet=1"}, "coreos_copy_network": true,
			}},
		}
	}
	empty := s.Checksum(t)

	code, r := s.step(t, coreos.Name, info("S-2", digest))
	g.Expect(code).To(Equal(exitcode.StepFailed), "%+v", r)
	g.Expect(r.Reason).To(ContainSubstring("no disk fits the root device hints"))
	g.Expect(s.Checksum(t)).To(Equal(empty), "a wrong hint writes nothing")

	begin := time.Now()
	code, r = s.step(t, coreos.Name, info(livesystem.Serial, digest))
	g.Expect(code).To(Equal(exitcode.StepDone), "%+v", r)
	t.Logf("figure: installed in %.1f s", time.Since(begin).Seconds())
	g.Expect(r.Result).To(HaveKeyWithValue("disk", s.Disk))
	g.Expect(s.Boot(t, "ignition/config.ign")).To(And(
		ContainSubstring(`{"contents":{"source":"data:,hello"},"path":"/etc/motd"}`), ContainSubstring(`"path":"/etc/hostname"`), ContainSubstring("data:,"+s.Run(t, "hostname"))))
	g.Expect(s.Boot(t, "loader/entries/*.conf")).To(MatchRegexp(`(?m)^options .* console=ttyS0,115200 rd.neednet=1$`))
	appended, err := xz.NewReader(strings.NewReader(s.Boot(t, "ostree/test/initramfs.img")))
	g.Expect(err).NotTo(HaveOccurred())
	archive, err := io.ReadAll(appended)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(archive)).To(And(ContainSubstring("eno1.nmconnection"), ContainSubstring(network)), "a cpio behind the initramfs")

	code, r = s.step(t, confirm.Name, nil)
	g.Expect(code).To(Equal(exitcode.StepDone), "%+v", r)
	g.Expect(r.Result).To(And(HaveKeyWithValue("disk", s.Disk), HaveKeyWithValue("image_digest", digest)))
}

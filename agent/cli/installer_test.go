package cli

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/container"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

const fullOrder = `{"boot_device":"/dev/sda","check_cvo":true,"cluster_id":"c","control_plane_count":3,"controller_image":"quay.example/controller:v1",
"coreos_image":"quay.example/coreos:v1","disks_to_format":["/dev/sdb","/dev/sdc"],"enable_skip_mco_reboot":true,"host_id":"h","infra_env_id":"ie",
"installer_args":"[\"--append-karg\",\"a=b\"]","installer_image":"quay.example/agent:v1","mco_image":"quay.example/mco:v1","must_gather_image":"quay.example/gather:v1",
"notify_num_reboots":true,"openshift_version":"4.20","proxy":{"http_proxy":"http://p:1","https_proxy":"http://p:2","no_proxy":"x.example"},
"role":"master","service_ips":["192.0.2.1","192.0.2.2"],"skip_installation_disk_cleanup":true}`

// TestFlagsOfTheInstaller reads the flags that an agent gives the installer of a container image.
func TestFlagsOfTheInstaller(t *testing.T) {
	g := NewWithT(t)
	var request wire.InstallCmdRequest
	g.Expect(json.Unmarshal([]byte(fullOrder), &request)).To(Succeed())
	runner := container.Runner{HubURL: "https://hub", AgentImage: "quay.example/agent:v1", Secret: func() string { return "s" }, Log: slog.New(slog.DiscardHandler)}
	args := runner.Args(install.Job{Request: request, Disk: "/dev/sda", Format: []string{"/dev/sdb", "/dev/sdc"}, Args: []string{"--append-karg", "a=b"}})
	args = args[slices.Index(args, "quay.example/agent:v1")+1:]

	c := program.NewCommon(program.Streams{Out: io.Discard, Err: io.Discard}, "installer", "")
	n, o := networkFlags(c), orderFlags(c)
	_, done := c.Parse(program.Streams{Out: io.Discard, Err: io.Discard}, args)
	g.Expect(done).To(BeFalse())
	raw, err := json.Marshal(o.install(n))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(MatchJSON(fullOrder))
	g.Expect(n.url).To(Equal("https://hub"))
}

func TestTheInstallerInstalls(t *testing.T) {
	const id = "33333333-3333-4333-8333-333333333333"
	for name, tc := range map[string]struct {
		disk   string
		code   int
		marker bool
		last   string
	}{
		"the disk is there":  {"/dev/sda", 0, true, "Rebooting"},
		"there is none":      {"/dev/sdz", 1, false, ""},
		"an option as value": {"--help-me", 1, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			t.Setenv(hostfile.RootEnv, dir.Root)
			boot := dir.Path(hostfile.BootIDPath())
			g.Expect(os.MkdirAll(filepath.Dir(boot), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(boot, []byte("b"), 0o600)).To(Succeed())
			machine := &scenario.Scenario{Name: "n", Hardware: scenario.Hardware{
				CPU: scenario.CPU{Count: 4}, MemoryMiB: 1024, NICs: []scenario.NIC{{Name: "eth0", MAC: "52:54:00:00:00:01"}},
				Disks: []scenario.Disk{{Name: "sda", SizeGiB: 120, Type: "SSD"}},
			}}
			g.Expect(machine.Save(dir.Path("/s.yaml"))).To(Succeed())
			var mu sync.Mutex
			var calls []string
			last := wire.HostProgress{}
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				call := r.Method + " " + r.URL.Path[strings.LastIndex(r.URL.Path, "/"):]
				calls = append(calls, call)
				if call == "PUT /progress" {
					_ = json.NewDecoder(r.Body).Decode(&last)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusNoContent)
			}))
			defer hub.Close()
			code, _, errs := call(t, "installer", "--dry-run", "--dry-scenario", dir.Path("/s.yaml"), "--url", hub.URL, "--role", "master", "--infra-env-id", id,
				"--cluster-id", id, "--host-id", id, "--boot-device", tc.disk, "--controller-image", "a/controller:v1", "--agent-image", "a/agent:v1")
			g.Expect(code).To(Equal(tc.code), errs)
			g.Expect(dir.Read(hostfile.InstalledFile, &hostfile.Installed{}) == nil).To(Equal(tc.marker))
			g.Expect(string(last.CurrentStage)).To(Equal(tc.last))
			g.Expect(calls).NotTo(ContainElement("POST /hosts"), "a registration would fail the installation")
			g.Expect(calls).NotTo(ContainElement("GET /instructions"))
		})
	}
}

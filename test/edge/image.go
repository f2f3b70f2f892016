package edge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/media"
)

// machineFile describes the pretended machine, in the host's folder.
const machineFile = "/machine.yaml"

func macOf(i int) string     { return fmt.Sprintf("52:54:00:00:00:%02x", i+1) }
func addressOf(i int) string { return fmt.Sprintf("198.51.100.%d", 10+i) }
func nameOf(i int) string    { return fmt.Sprintf("edge-%d", i) }

// image makes the image, and returns what its live system is told.
func (s *Site) image(ctx context.Context) (*liveimage.Decoded, error) {
	input, base, programs := filepath.Join(s.options.Dir, "input"), filepath.Join(s.options.Dir, "live.iso"), filepath.Join(s.options.Dir, "programs")
	files := manifests(s.options.Hosts)
	for _, program := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-step"} {
		files["../programs/x86_64/"+program] = "the programs of this site run beside their image"
	}
	for file, text := range files {
		if err := put(filepath.Join(input, file), text); err != nil {
			return nil, err
		}
	}
	if err := media.WriteFile(base, media.Options{RootfsBytes: 1 << 20}); err != nil {
		return nil, err
	}
	args := []string{"agent-image", "create", "--dir", input, "--base-image", base, "--host-programs", programs, "--rendezvous-ip", addressOf(0)}
	s.options.Say("ironflow %s", strings.Join(args, " "))
	out, err := exec.CommandContext(ctx, filepath.Join(s.options.BinDir, "ironflow"), args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("make the image: %w\n%s", err, out)
	}
	summary, _, _ := strings.Cut(string(out), "\n\n"+input) // without the files
	s.options.Say("the image is made:\n%s", summary)
	return ignition(filepath.Join(input, "agent.x86_64.iso"))
}

func ignition(path string) (*liveimage.Decoded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	raw, err := liveimage.Ignition(f, info.Size())
	if err != nil {
		return nil, err
	}
	return liveimage.Decode(raw)
}

// unpack makes a host's folder of what the image says, but for the hub's address.
func (s *Site) unpack(i int, config *liveimage.Decoded) error {
	h := host{nameOf(i), hostfile.Dir{Root: filepath.Join(s.options.Dir, nameOf(i))}}
	s.hosts = append(s.hosts, h)
	for _, f := range config.Files {
		if err := put(h.dir.Path(f.Path), string(f.Data)); err != nil {
			return err
		}
	}
	env, err := places.ReadEnv(h.dir, places.RendezvousHost)
	if err != nil {
		return err
	}
	env[places.ServiceBaseURL] = s.url
	serial := "EDGE-" + uuid.NewString()
	agent := h.dir.Path(hostfile.AgentBinary) // where the live image has it
	if err := os.MkdirAll(filepath.Dir(agent), 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.Symlink(filepath.Join(s.options.BinDir, filepath.Base(agent)), agent),
		places.Write(h.dir, places.RendezvousHost, []byte(places.FormatEnv(env)), 0o600),
		put(h.dir.Path(hostfile.BootIDPath()), uuid.NewString()+"\n"), put(h.dir.Path("/sys/class/dmi/id/board_serial"), serial+"\n"),
		s.machine(i, serial).Save(h.dir.Path(machineFile)),
	)
}

func (s *Site) machine(i int, serial string) *scenario.Scenario {
	return &scenario.Scenario{
		Name: nameOf(i),
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: serial},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 16, MHz: 2400, Flags: []string{"vmx", "sse4_2", "avx2"}},
			MemoryMiB: 65536,
			NICs:      []scenario.NIC{{Name: "eno1", MAC: macOf(i), IPv4: []string{addressOf(i) + "/24"}, Gateway: "198.51.100.1", SpeedMbps: 25000}},
			Disks:     []scenario.Disk{{Name: "nvme0n1", SizeGiB: 960, Type: "NVME", Serial: fmt.Sprintf("N-%d", i), WWN: fmt.Sprintf("eui.%016x", i+1)}},
		},
		Install: scenario.Install{DefaultStage: scenario.Duration{Duration: s.options.Stage}},
	}
}

func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// manifests are those of a cluster without a release, whose hosts have nobody inside who
// tells how they come up: they are installed when they do not come back to the live image.
func manifests(hosts int) map[string]string {
	platform := "BareMetal\n  apiVIP: 198.51.100.3\n  ingressVIP: 198.51.100.4"
	if hosts == 1 {
		platform = "None"
	}
	out := map[string]string{ //nolint:gosec // its pull secret opens nothing
		"cluster-manifests/pull-secret.yaml": `apiVersion: v1
kind: Secret
metadata: {name: pull-secret}
stringData:
  .dockerconfigjson: '{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}'
`,
		"cluster-manifests/cluster-deployment.yaml": `apiVersion: hive.openshift.io/v1
kind: ClusterDeployment
metadata: {name: edge}
spec:
  baseDomain: lab.example
  clusterName: edge
  pullSecretRef: {name: pull-secret}
`,
		"cluster-manifests/agent-cluster-install.yaml": fmt.Sprintf(`apiVersion: extensions.hive.openshift.io/v1beta1
kind: AgentClusterInstall
metadata:
  name: edge
  annotations: {ironflow.io/ignition-source: files}
spec:
  clusterDeploymentRef: {name: edge}
  platformType: %s
  networking:
    machineNetwork: [{cidr: 198.51.100.0/24}]
  provisionRequirements: {controlPlaneAgents: %d}
`, platform, hosts),
		"cluster-manifests/infraenv.yaml": `apiVersion: agent-install.openshift.io/v1beta1
kind: InfraEnv
metadata: {name: edge}
spec:
  clusterRef: {name: edge}
  pullSecretRef: {name: pull-secret}
`,
		"hub.env": "IRONFLOW_HUB_STAGE_TIMEOUTS=Rebooting=" + boots.String() + "\n",
	}
	for i := range hosts {
		out["hostconfig/"+nameOf(i)+"/mac_addresses"] = macOf(i) + "\n"
		out["hostconfig/"+nameOf(i)+"/root-device-hints.yaml"] = "deviceName: /dev/nvme0n1\n"
	}
	return out
}

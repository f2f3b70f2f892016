//go:build e2e || machine

package agentbased

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/lab/ports"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/netns"
	"github.com/ironflow/ironflow/test/spawn"
)

const (
	// patience is for a machine that has other work.
	patience = 5 * time.Minute
	// look is the time between two looks at what a test waits for.
	look = 200 * time.Millisecond
	// infraEnv is in the image of all hosts.
	infraEnv = "11111111-1111-4111-8111-111111111111"
)

// site is an installation. Its first host is node zero.
type site struct {
	*WithT
	*testing.T
	dir, url string
	tokens   map[string]string
	public   string
	hosts    []string // their folders
	hub      *process
	agents   []*process
	// inside are the hosts' own network namespaces; none where they share this computer's.
	inside []*netns.Host
	// thread starts processes that have no namespace of their own.
	thread *spawn.Thread
	// client reaches the hub.
	client *http.Client
}

// newSite makes the image of a number of hosts of the control plane, and boots nothing.
func newSite(t *testing.T, hosts int) *site {
	t.Helper()
	s := &site{WithT: NewWithT(t), T: t, dir: t.TempDir(), client: http.DefaultClient}
	set := &ports.Set{}
	port, err := set.Free()
	s.Expect(err).NotTo(HaveOccurred())
	s.Cleanup(func() { s.Expect(set.Close()).To(Succeed()) })
	s.url = fmt.Sprintf("http://127.0.0.1:%d/", port)
	s.makeTokens()
	for i := range hosts {
		s.makeHost(i)
	}
	node0 := s.hosts[0]
	s.write(node0, "/etc/assisted/node0", "BOOTSTRAP_HOST_MAC="+mac(0)+"\n")
	for name, text := range manifests(hosts) {
		s.write(node0, "/etc/assisted/manifests/"+name, text)
	}
	s.write(node0, "/etc/assisted/hostconfig/zero/mac_addresses", mac(0)+"\n")
	s.write(node0, "/etc/assisted/hostconfig/zero/root-device-hints.yaml", "deviceName: /dev/nvme0n1\n")
	return s
}

// macPrefix begins the addresses of the cards that hosts are known by.
const macPrefix = "52:54:00:00:00:"

func mac(i int) string { return fmt.Sprintf("%s%02x", macPrefix, i+1) }

// makeTokens signs the tokens of the three schemes (RFC 7515, ES256).
func (s *site) makeTokens() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	s.Expect(err).NotTo(HaveOccurred())
	s.public = base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	s.tokens = map[string]string{}
	encode := base64.RawURLEncoding.EncodeToString
	for name, scheme := range map[string]string{"USER_AUTH_TOKEN": "userAuth", "AGENT_AUTH_TOKEN": "agentAuth", "WATCHER_AUTH_TOKEN": "watcherAuth"} {
		text := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode([]byte(`{"auth_scheme":"`+scheme+`"}`))
		digest := sha256.Sum256([]byte(text))
		r, t, err := ecdsa.Sign(rand.Reader, key, digest[:])
		s.Expect(err).NotTo(HaveOccurred())
		s.tokens[name] = text + "." + encode(append(r.FillBytes(make([]byte, 32)), t.FillBytes(make([]byte, 32))...))
	}
}

// makeHost makes a host with its part of the image.
func (s *site) makeHost(i int) {
	root := s.machine(i, []scenario.NIC{{Name: "eno1", MAC: mac(i), IPv4: []string{fmt.Sprintf("198.51.100.%d/24", 10+i)}, Gateway: "198.51.100.1", SpeedMbps: 25000}})
	var env strings.Builder
	fmt.Fprintf(&env, "NODE_ZERO_IP=198.51.100.10\nSERVICE_BASE_URL=%s\n", s.url)
	for _, name := range slices.Sorted(maps.Keys(s.tokens)) {
		fmt.Fprintf(&env, "%s=%s\n", name, s.tokens[name])
	}
	s.write(root, "/etc/assisted/rendezvous-host.env", env.String())
	s.write(root, "/usr/local/share/assisted-service/assisted-service.env",
		"AUTH_TYPE=agent-installer-local\nEC_PUBLIC_KEY_PEM="+s.public+"\nINFRA_ENV_ID="+infraEnv+"\nDEPLOY_TARGET=onprem\nSTORAGE=filesystem\nINSTALL_INVOKER=agent-installer\n")
}

// machine makes the folder of a host that has these cards. Node zero is the weakest.
func (s *site) machine(i int, cards []scenario.NIC) string {
	root := filepath.Join(s.dir, fmt.Sprintf("host%d", i))
	s.hosts = append(s.hosts, root)
	serial := fmt.Sprintf("SER-%s-%d", s.Name(), i)
	s.write(root, "/sys/class/dmi/id/board_serial", serial+"\n")
	s.Expect(hardware(i, serial, cards).Save(filepath.Join(root, "scenario.yaml"))).To(Succeed())
	return root
}

// hardware is a machine that pretends to install.
func hardware(i int, serial string, cards []scenario.NIC) *scenario.Scenario {
	return &scenario.Scenario{
		Name: fmt.Sprintf("node-%d", i),
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: serial},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 16 + 8*i, MHz: 2400, Flags: []string{"vmx", "sse4_2", "avx2"}},
			MemoryMiB: 65536,
			NICs:      cards,
			Disks:     []scenario.Disk{{Name: "nvme0n1", SizeGiB: 960, Type: "NVME", Serial: fmt.Sprintf("N-%d", i), WWN: fmt.Sprintf("eui.%016x", i+1)}},
		},
		Install: scenario.Install{DefaultStage: scenario.Duration{Duration: 2 * time.Second}},
	}
}

func (s *site) write(root, path, text string) {
	s.Helper()
	path = filepath.Join(root, path)
	s.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	s.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
}

// process is a program that runs.
type process struct {
	command *exec.Cmd
	mu      sync.Mutex
	said    bytes.Buffer
	ended   chan struct{}
}

// Write implements io.Writer.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(text)
}

// tail is the end of what it said.
func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.said.String()
	return text[max(0, len(text)-3000):]
}

// start starts a program of a host with nothing of our own environment but the path.
func (s *site) start(root string, env map[string]string, name string, args ...string) *process {
	s.Helper()
	p := &process{command: exec.Command(needs.Shipped(s.T, name), args...), ended: make(chan struct{})}
	p.command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, hostfile.RootEnv + "=" + root, "INVOCATION_ID=" + strings.ReplaceAll(uuid.NewString(), "-", "")}
	for name, value := range env {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stdout, p.command.Stderr = io.Writer(p), io.Writer(p)
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.Expect(s.launch(root, p.command.Start)).To(Succeed())
	go func() {
		_ = p.command.Wait() // the status says it
		close(p.ended)
	}()
	s.Cleanup(func() {
		p.kill()
		if s.Failed() {
			s.Log(name, args, "of", root+":\n"+p.tail())
		}
	})
	return p
}

// launch starts something where the host is; what belongs to no host is beside the first one.
func (s *site) launch(root string, start func() error) error {
	if len(s.inside) == 0 {
		if s.thread == nil { // the kernel kills what a thread has started when that ends, which others here may have done
			s.thread = spawn.NewThread()
			s.Cleanup(s.thread.Close)
		}
		return s.thread.Do(start)
	}
	return s.inside[max(slices.Index(s.hosts, root), 0)].Do(start)
}

// peak is the most memory that the program has had, in MiB.
func (p *process) peak(s *site) int {
	s.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	s.Expect(err).NotTo(HaveOccurred())
	var kib int
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, err = fmt.Sscan(value, &kib)
			s.Expect(err).NotTo(HaveOccurred())
		}
	}
	return kib >> 10
}

// kill ends it with SIGKILL.
func (p *process) kill() {
	_ = p.command.Process.Kill() // it may have ended
	<-p.ended
}

// environment are the variables that a unit gets out of environment files.
func (s *site) environment(root string, files ...string) map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, file := range files {
		values, err := places.ReadEnv(hostfile.Dir{Root: root}, file)
		if os.IsNotExist(err) {
			continue
		}
		s.Expect(err).NotTo(HaveOccurred())
		maps.Copy(all, values)
	}
	return all
}

// startHub starts node zero's hub as assisted-service.service does, and waits until it answers.
func (s *site) startHub() {
	s.Helper()
	env := s.environment(s.hosts[0], "/usr/local/share/assisted-service/assisted-service.env", "/etc/assisted/rendezvous-host.env", "/etc/assisted/node0")
	env["IRONFLOW_DATA_DIR"] = s.data()
	if len(s.inside) == 0 {
		env["IRONFLOW_HUB_ADDR"] = strings.Trim(strings.TrimPrefix(s.url, "http://"), "/") // the hosts share their addresses
	}
	s.hub = s.start(s.hosts[0], env, "ironflow", "hub", "agent-based")
	s.Eventually(func() error { return s.get("/clusters", nil) }, patience, look).Should(Succeed(), s.hub.tail)
}

func (s *site) data() string { return filepath.Join(s.hosts[0], "data") }

// oneshot runs a unit of node zero until it succeeds, as systemd does.
func (s *site) oneshot(args ...string) {
	s.Helper()
	deadline := time.Now().Add(patience)
	for {
		env := s.environment(s.hosts[0], "/usr/local/share/assisted-service/assisted-service.env", "/etc/assisted/add-nodes.env", "/etc/assisted/rendezvous-host.env", "/etc/assisted/client_config")
		p := s.start(s.hosts[0], env, "ironflow-agent-based", args...)
		select {
		case <-p.ended:
		case <-time.After(time.Until(deadline)):
			s.Fatal(args, "goes on: ", p.tail())
		}
		if p.command.ProcessState.Success() {
			return
		}
		s.Expect(time.Now().Before(deadline)).To(BeTrue(), p.tail)
		<-time.After(time.Second)
	}
}

// register runs the client's units.
func (s *site) register() {
	s.Helper()
	s.oneshot("agent-installer-client", "registerCluster")
	s.oneshot("agent-installer-client", "registerInfraEnv")
}

// boot has a host run agent.service.
func (s *site) boot(i int) *process {
	s.Helper()
	root := s.hosts[i]
	dir := hostfile.Dir{Root: root}
	s.Expect(os.RemoveAll(dir.Path("/run"))).To(Succeed(), "it was in memory")
	agent := dir.Path(hostfile.AgentBinary) // where the live image has it
	s.Expect(os.MkdirAll(filepath.Dir(agent), 0o755)).To(Succeed())
	if err := os.Symlink(needs.Shipped(s.T, "ironflow-agent"), agent); err != nil && !errors.Is(err, fs.ErrExist) {
		s.Fatal(err)
	}
	s.write(root, hostfile.BootIDPath(), uuid.NewString()+"\n")
	return s.start(root, nil, "ironflow-agent-based", "start-agent", "--", "--interval", "1",
		"--with-journal-logging=false", "--with-text-logging=false", "--with-stdout-logging", "--dry-run", "--dry-scenario", filepath.Join(root, "scenario.yaml"))
}

// get asks the hub as somebody who waits for the end.
func (s *site) get(path string, out any) error {
	return s.ask("Watcher-Authorization", "WATCHER_AUTH_TOKEN", path, out)
}

func (s *site) ask(header, token, path string, out any) error {
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+"api/assisted-install/v2"+path, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set(header, s.tokens[token])
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s: %s", path, answer.Status, raw)
	case out == nil:
		return nil
	}
	return json.Unmarshal(raw, out)
}

// cluster is the only one, with its hosts.
func (s *site) cluster() wire.Cluster {
	s.Helper()
	var all []wire.Cluster
	s.Eventually(func() error { return s.get("/clusters?with_hosts=true", &all) }, patience, look).Should(Succeed())
	s.Expect(all).To(HaveLen(1), "also when it is registered again")
	return all[0]
}

// stages are those of the hosts by their MAC addresses; empty for none.
func (s *site) stages() (map[string]wire.HostStage, error) {
	var all []wire.Cluster
	if err := s.get("/clusters?with_hosts=true", &all); err != nil {
		return nil, err
	}
	out := map[string]wire.HostStage{}
	for _, c := range all {
		for _, h := range c.Hosts {
			var stage wire.HostStage
			if h.Progress != nil {
				stage = h.Progress.CurrentStage
			}
			out[cardOf(h)] = stage
		}
	}
	return out, nil
}

func cardOf(h wire.Host) string {
	var inventory wire.Inventory
	if json.Unmarshal([]byte(cmp.Or(h.Inventory, "{}")), &inventory) != nil {
		return h.ID
	}
	for _, card := range inventory.Interfaces { // the one that the test knows the host by
		if strings.HasPrefix(card.MACAddress, macPrefix) {
			return card.MACAddress
		}
	}
	return h.ID
}

// reaches waits until the host is at the stage.
func (s *site) reaches(i int, stage wire.HostStage) {
	s.Helper()
	s.Eventually(func() (wire.HostStage, error) {
		all, err := s.stages()
		return all[mac(i)], err
	}, patience, look).Should(Equal(stage), s.story)
}

// story is what happened, for a test that fails.
func (s *site) story() string {
	var events wire.EventList
	_ = s.get("/events", &events)
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintln(&b, e.EventTime, e.Severity, e.Message)
	}
	var all []wire.Cluster
	_ = s.get("/clusters?with_hosts=true", &all)
	for _, c := range all {
		fmt.Fprintln(&b, c.Status, c.StatusInfo, c.ValidationsInfo)
		for _, h := range c.Hosts {
			fmt.Fprintln(&b, h.ID, h.Status, h.StatusInfo, h.ValidationsInfo)
		}
	}
	return b.String()
}

// manifests are those of a cluster without a release.
func manifests(masters int) map[string]string {
	const pullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}`
	return map[string]string{
		"pull-secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: pull-secret}\nstringData:\n  .dockerconfigjson: '" + pullSecret + "'\n",
		"cluster-deployment.yaml": `apiVersion: hive.openshift.io/v1
kind: ClusterDeployment
metadata: {name: edge}
spec:
  baseDomain: lab.example
  clusterName: edge
  clusterInstallRef: {group: extensions.hive.openshift.io, kind: AgentClusterInstall, name: edge, version: v1beta1}
  platform: {agentBareMetal: {agentSelector: {}}}
  pullSecretRef: {name: pull-secret}
`,
		"agent-cluster-install.yaml": fmt.Sprintf(`apiVersion: extensions.hive.openshift.io/v1beta1
kind: AgentClusterInstall
metadata:
  name: edge
  annotations: {ironflow.io/ignition-source: files}
spec:
  clusterDeploymentRef: {name: edge}
  platformType: BareMetal
  apiVIP: 198.51.100.3
  ingressVIP: 198.51.100.4
  networking:
    machineNetwork: [{cidr: 198.51.100.0/24}]
  provisionRequirements: {controlPlaneAgents: %d}
`, masters),
		"infraenv.yaml": `apiVersion: agent-install.openshift.io/v1beta1
kind: InfraEnv
metadata: {name: edge}
spec:
  clusterRef: {name: edge}
  pullSecretRef: {name: pull-secret}
`,
	}
}

package upgrade_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// pullSecret is in the form that the hub asks for, and opens nothing.
const pullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}`

// seeds make the machine of each host one of its own.
var seeds = map[string]int{"ready": 1, "installing": 2, "cancelled": 3, "failed": 4, "installed": 5, "small": 6, "known": 7, "silent": 8}

// TestAHubIsRecorded with -update: users and agents bring clusters and hosts into many states, and the hub's files are kept.
func TestAHubIsRecorded(t *testing.T) {
	dir := toRecord(t, "hub")
	h := newHub(t)
	h.start()
	h.cluster("new", "")
	h.pool("known", "")
	h.pool("silent", "")
	h.pool("small", h.cluster("small", "example"))
	for _, name := range []string{"ready", "installing", "cancelled", "failed", "installed"} {
		id := h.cluster(name, "example")
		h.pool(name, id)
		if name != "ready" {
			h.installs(name, id)
		}
	}
	h.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	raw, err := json.MarshalIndent(h.answers(), "", " ")
	h.Expect(err).NotTo(HaveOccurred())
	record(t, filepath.Join(dir, answersFile), append(raw, '\n'))
	backup := exec.CommandContext(t.Context(), h.options.Program, "hub", "backup", filepath.Join(dir, "backup.tar.gz"), "--data-dir", h.program.Data)
	out, err := backup.CombinedOutput()
	h.Expect(err).NotTo(HaveOccurred(), string(out))
	h.Expect(h.program.Stop()).To(Succeed())
	h.pack(dir)
}

// cluster makes a cluster of one host; without a domain it waits for one.
func (h *hub) cluster(name, domain string) string {
	h.t.Helper()
	var c wire.Cluster
	h.do(http.MethodPost, "/clusters", wire.ClusterCreateParams{
		Name: name, BaseDNSDomain: domain, OpenshiftVersion: "4.20", PullSecret: pullSecret, ControlPlaneCount: new(int64(1)),
	}, &c)
	return c.ID
}

// pool makes an infra-env with one host, which has told all that it is asked for, unless it is a silent one.
func (h *hub) pool(name, cluster string) {
	h.t.Helper()
	params := wire.InfraEnvCreateParams{Name: name, PullSecret: pullSecret}
	if cluster != "" {
		params.ClusterID = &cluster
	}
	var env wire.InfraEnv
	h.do(http.MethodPost, "/infra-envs", params, &env)
	key, agent := store.HostKey{InfraEnvID: env.ID, HostID: uuid.NewString()}, h.agent(env.ID)
	agent.Register(h.t, key)
	if name == "silent" {
		return
	}
	inventory := testhub.Inventory(seeds[name])
	if name == "small" {
		inventory.Memory.PhysicalBytes, inventory.Memory.UsableBytes = 1<<30, 1<<30
	}
	for range 2 {
		for _, step := range agent.Poll(h.t, key).Instructions {
			agent.Answer(h.t, key, step, inventory)
		}
	}
}

// installs begins the installation of a cluster, and brings it to where its name says.
func (h *hub) installs(name, cluster string) {
	h.t.Helper()
	key := h.hostOf(name)
	agent := h.agent(key.InfraEnvID)
	h.Eventually(func() string {
		var c wire.Cluster
		h.do(http.MethodGet, "/clusters/"+cluster, nil, &c)
		return c.Status
	}).WithTimeout(patience).Should(Equal(wire.ClusterStatusReady))
	h.do(http.MethodPost, "/clusters/"+cluster+"/actions/install", nil, nil)
	agent.UntilInstall(h.t, key, testhub.Inventory(seeds[name]))
	agent.Progress(h.t, key, wire.HostStageStartingInstallation, "")
	agent.Progress(h.t, key, wire.HostStageWritingImageToDisk, "45%")
	until := wire.ClusterStatusInstalling
	switch name {
	case "cancelled":
		h.do(http.MethodPost, "/clusters/"+cluster+"/actions/cancel", nil, nil)
		until = wire.ClusterStatusCancelled
	case "failed":
		agent.Progress(h.t, key, wire.HostStageFailed, "the disk is broken")
		until = wire.ClusterStatusError
	case "installed":
		agent.Progress(h.t, key, wire.HostStageRebooting, "")
		agent.Progress(h.t, key, wire.HostStageDone, "")
		until = wire.ClusterStatusInstalled
	}
	var c wire.Cluster
	h.Eventually(func() string {
		h.do(http.MethodGet, "/clusters/"+cluster, nil, &c)
		return c.Status
	}).WithTimeout(patience).Should(Equal(until), "%s: %s", name, c.StatusInfo)
}

// pack keeps the files of the data folder, but for certificates: those have an end, and are made anew.
func (h *hub) pack(dir string) {
	h.t.Helper()
	h.Expect(filepath.WalkDir(h.program.Data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(h.program.Data, path)
		if err != nil || strings.HasPrefix(name, "tls") {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil {
			record(h.t, filepath.Join(dir, "data", name+".gz"), content)
		}
		return err
	})).To(Succeed())
}

// unpack puts the data folder of a release in its place.
func (h *hub) unpack(release string) {
	h.t.Helper()
	from := filepath.Join(release, "hub", "data")
	h.Expect(filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, strings.TrimSuffix(path, ".gz"))
		if err != nil {
			return err
		}
		to := filepath.Join(h.program.Data, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, unpacked(h.t, path), 0o600)
	})).To(Succeed(), "run this with -update to record the release")
	h.Expect(filepath.Join(h.program.Data, records)).To(BeARegularFile())
}

// moving are members that tell of the moment of the question, or that a release may word better.
var moving = []string{"validations_info", "status_info", "checked_in_at"}

// differences lists what a recorded answer has and the present one has not, or has otherwise. What is new is none.
func differences(path string, want, got any) (list []string) {
	switch want := want.(type) {
	case map[string]any:
		have, is := got.(map[string]any)
		if !is {
			return []string{fmt.Sprintf("%s: %v, and was an object", path, got)}
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if !slices.Contains(moving, name) {
				list = append(list, differences(path+"."+name, want[name], have[name])...)
			}
		}
	case []any:
		have, is := got.([]any)
		if !is || len(have) < len(want) {
			return []string{fmt.Sprintf("%s: %v, and were %d", path, got, len(want))}
		}
		for i := range want {
			list = append(list, differences(fmt.Sprintf("%s[%d]", path, i), want[i], have[i])...)
		}
	default:
		if want != got {
			return []string{fmt.Sprintf("%s: %v, and was %v", path, got, want)}
		}
	}
	return list
}

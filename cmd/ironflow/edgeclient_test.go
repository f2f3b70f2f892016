package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/programs"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	hostprogram "github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/liveimage"
)

// edgeHost is node zero of an image: its files, and the hub that its settings make.
type edgeHost struct {
	*WithT
	dir hostfile.Dir
	env map[string]string
}

// newEdgeHost makes the image of an input, and starts the hub.
func newEdgeHost(t *testing.T, o image.Options) *edgeHost {
	t.Helper()
	h := &edgeHost{WithT: NewWithT(t), dir: hostfile.Dir{Root: t.TempDir()}, env: map[string]string{}}
	var err error
	o.Dir, err = filepath.Abs(filepath.Join("../../agent/agentbased/image/testdata", o.Dir))
	h.Expect(err).NotTo(HaveOccurred())
	o.Workflow, o.Arch, o.Live = units.Automated, "x86_64", network.Live{Nmstatectl: true}
	plan, _, err := image.Read(o)
	h.Expect(err).NotTo(HaveOccurred())
	id, err := image.LoadIdentity(plan, kubernetesAuthorities(), t.TempDir(), time.Now())
	h.Expect(err).NotTo(HaveOccurred())
	raw, err := plan.Ignition(id)
	h.Expect(err).NotTo(HaveOccurred())
	config, err := liveimage.Decode(raw)
	h.Expect(err).NotTo(HaveOccurred())
	for _, f := range config.Files {
		h.Expect(places.Write(h.dir, f.Path, f.Data, 0o600)).To(Succeed())
	}
	for _, file := range []string{places.ServiceSettings + "/assisted-service.env", places.HubSettings, places.RendezvousHost} {
		values, err := places.ReadEnv(h.dir, file)
		h.Expect(err).To(Or(Not(HaveOccurred()), MatchError(os.ErrNotExist)))
		maps.Copy(h.env, values)
	}
	addr := free(h.WithT)
	h.env[places.ServiceBaseURL], h.env[places.BootstrapMAC] = "http://"+addr+"/", "02:00:00:00:00:a1"
	if folder := h.env["EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR"]; folder != "" {
		h.env["EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR"] = h.dir.Path(folder)
	}
	if h.env["IRONFLOW_HUB_IGNITION_DIR"] != "" {
		h.env["IRONFLOW_HUB_IGNITION_DIR"] = t.TempDir() // it is not asked for its files here
	}
	for name, value := range h.env {
		t.Setenv(name, value)
	}
	t.Setenv(hostfile.RootEnv, h.dir.Root)
	s := edgeSettings(t, "--hub-addr="+addr, "--data-dir="+t.TempDir())
	h.Expect(s.complete()).To(Succeed())
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- runAgentBased(ctx, *s) }()
	t.Cleanup(func() {
		cancel()
		h.Expect(<-done).To(Or(Succeed(), MatchError(context.Canceled)))
	})
	h.Eventually(get(addr)).Should(Equal(http.StatusOK))
	return h
}

// client runs a subcommand of the client, as its unit does.
func (h *edgeHost) client(t *testing.T, subcommand string) {
	t.Helper()
	var said strings.Builder
	code := programs.Main(t.Context(), hostprogram.Streams{Out: io.Discard, Err: &said}, []string{programs.BinaryName, "agent-installer-client", subcommand})
	h.Expect(code).To(BeZero(), said.String())
}

// list asks the hub as somebody who waits for the end.
func (h *edgeHost) list(t *testing.T, path string, out any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.env[places.ServiceBaseURL]+"api/assisted-install/v2"+path, http.NoBody)
	h.Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Watcher-Authorization", h.env[places.WatcherToken])
	answer, err := http.DefaultClient.Do(r)
	h.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	h.Expect(answer.StatusCode).To(Equal(http.StatusOK))
	h.Expect(json.NewDecoder(answer.Body).Decode(out)).To(Succeed())
}

// TestWhatAnImageSaysReachesItsHub: image, client and hub are ours, and nobody plays one of
// them. The hub has what people have written, also when the client's units run again.
func TestWhatAnImageSaysReachesItsHub(t *testing.T) {
	const release = "quay.example/release/ocp:4.19.3-x86_64"
	for name, tc := range map[string]struct {
		options image.Options
		want    func(c *wire.Cluster) []any
		is      []any
	}{
		"two files": {
			image.Options{Dir: "configs", ReleaseImage: release},
			func(c *wire.Cluster) []any {
				return []any{c.Name, c.OpenshiftVersion, c.OcpReleaseImage, c.ControlPlaneCount, len(c.APIVIPs)}
			},
			[]any{"edge", "4.19.3", release, int64(3), 1},
		},
		"manifests": {
			image.Options{Dir: "ztp", BootArtifactsURL: "http://192.0.2.1:8080/boot"},
			func(c *wire.Cluster) []any {
				return []any{c.Name, c.BaseDNSDomain, c.OpenshiftVersion, c.ControlPlaneCount, len(c.APIVIPs)}
			},
			[]any{"edge", "lab.example", "4.19.3", int64(3), 2},
		},
		"a plain Kubernetes": {
			image.Options{Dir: "kubernetes", RendezvousIP: "2001:db8::10"},
			func(c *wire.Cluster) []any {
				return []any{c.Name, c.OpenshiftVersion, c.OcpReleaseImage, c.ControlPlaneCount, len(c.MonitoredOperators)}
			},
			[]any{"edge", "", "", int64(1), 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newEdgeHost(t, tc.options)
			for range 2 {
				h.client(t, "registerCluster")
				h.client(t, "registerInfraEnv")
			}
			var clusters []wire.Cluster
			h.list(t, "/clusters", &clusters)
			h.Expect(clusters).To(HaveLen(1))
			h.Expect(tc.want(&clusters[0])).To(Equal(tc.is))
			var envs []wire.InfraEnv
			h.list(t, "/infra-envs", &envs)
			h.Expect(slices.Collect(func(yield func(string) bool) {
				for _, e := range envs {
					_ = yield(e.ID) && yield(cmp.Or(e.ClusterID, "none"))
				}
			})).To(Equal([]string{h.env[places.InfraEnvID], clusters[0].ID}), "the one of the image, bound to the cluster")
		})
	}
}

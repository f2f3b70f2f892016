package rest_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// plainKubernetes is a cluster of one host that the source kubernetes makes.
func plainKubernetes(t *testing.T, settings wire.KubernetesSettings) *scene {
	t.Helper()
	s := singleNode(t).checked().withoutRelease()
	settings.Version = "v1.37.1"
	s.cluster.IgnitionSource, s.cluster.Kubernetes, s.cluster.NetworkType = string(sources.Kubernetes), &settings, new(wire.ClusterNetworkTypeNone)
	s.cluster.MachineNetworks = []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}}
	s.cluster.ClusterNetworks = []wire.ClusterNetwork{{CIDR: "10.128.0.0/14", HostPrefix: 23}}
	s.cluster.ServiceNetworks = []wire.ServiceNetwork{{CIDR: "172.30.0.0/16"}}
	return s
}

// withKubernetes is a hub with that source.
func withKubernetes(t *testing.T) *testhub.Hub {
	t.Helper()
	return testhub.Start(t, testhub.Options{
		Timers: service.Timers{Monitor: 10 * time.Millisecond}, Sources: map[sources.Name]sources.Source{sources.Kubernetes: kubernetes.Source{}},
		Inside: inside.Program{Image: "registry.example/ironflow-cluster:v1", URL: "https://hub.example:8090"},
	})
}

// written are the files of a host's Ignition by path.
func (p *played) written(t *testing.T, hub *testhub.Hub, n int) map[string]string {
	t.Helper()
	g := NewWithT(t)
	code, raw := p.ignition(t, hub, n)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	var config struct {
		Storage struct {
			Files []struct {
				Path     string
				Contents struct{ Source string }
			}
		}
	}
	g.Expect(json.Unmarshal([]byte(raw), &config)).To(Succeed())
	out := map[string]string{}
	for _, f := range config.Storage.Files {
		if encoded, ok := strings.CutPrefix(f.Contents.Source, "data:;base64,"); ok {
			content, err := base64.StdEncoding.DecodeString(encoded)
			g.Expect(err).NotTo(HaveOccurred())
			out[f.Path] = string(content)
		}
	}
	return out
}

// ofKubernetes is where its files are on a host.
const ofKubernetes = "/etc/ironflow/kubernetes/"

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	clusterID = "11111111-1111-4111-8111-111111111111"
	envID     = "22222222-2222-4222-8222-222222222222"
	// folderFiles is where the content of manifests is asked for; both parameters are required.
	folderFiles = "GET /clusters/" + clusterID + "/manifests/files?file_name=a.yaml&folder=openshift"
	otherFile   = "GET /clusters/" + clusterID + "/manifests/files?file_name=b.yml&folder=openshift"
)

// The cluster of testdata/whole, written by hand from the protocol's tables: section 5 of
// the contract says which field of the manifests becomes which parameter.
const registerCluster = `{
	"name": "edge", "base_dns_domain": "lab.example", "pull_secret": "{\"auths\":{\"registry.example\":{\"auth\":\"dTpw\"}}}",
	"openshift_version": "4.19.3", "cpu_architecture": "x86_64", "ocp_release_image": "registry.example/ocp-release:4.19.3-x86_64",
	"ssh_public_key": "ssh-ed25519 AAAA key@example",
	"cluster_networks": [{"cidr": "10.128.0.0/14", "host_prefix": 23}, {"cidr": "fd01::/48", "host_prefix": 64}],
	"service_networks": [{"cidr": "172.30.0.0/16"}, {"cidr": "fd02::/112"}], "machine_networks": [{"cidr": "192.0.2.0/24"}, {"cidr": "2001:db8::/64"}],
	"network_type": "OVNKubernetes", "user_managed_networking": false, "platform": {"type": "baremetal"},
	"api_vips": [{"ip": "192.0.2.5"}, {"ip": "2001:db8::5"}], "ingress_vips": [{"ip": "192.0.2.6"}, {"ip": "2001:db8::6"}],
	"schedulable_masters": true, "control_plane_count": 3, "hyperthreading": "masters,arbiters",
	"disk_encryption": {"enable_on": "masters", "mode": "tpmv2"},
	"http_proxy": "http://proxy.example:3128", "no_proxy": ".lab.example", "load_balancer": {"type": "cluster-managed"},
	"tags": "fleet", "additional_ntp_source": "ntp1.example,ntp2.example",
	"olm_operators": null, "operator_bundles": null
}`

const registerInfraEnv = `{
	"name": "edge", "pull_secret": "{\"auths\":{\"registry.example\":{\"auth\":\"dTpw\"}}}", "image_type": "minimal-iso",
	"cluster_id": "` + clusterID + `", "openshift_version": "4.19.3", "cpu_architecture": "x86_64",
	"ssh_authorized_key": "ssh-ed25519 AAAA key@example", "additional_ntp_sources": "ntp1.example,ntp2.example", "kernel_arguments": null,
	"static_network_config": [
		{"mac_interface_map": [{"mac_address": "02:00:00:00:00:01", "logical_nic_name": "eno1"}],
		 "network_yaml": "interfaces:\n    - name: eno1\n      type: ethernet\n      state: up\n` +
	`      ipv4:\n        enabled: true\n        dhcp: false\n        address: [{ip: 192.0.2.10, prefix-length: 24}]\n"},
		{"mac_interface_map": [{"mac_address": "02:00:00:00:00:02", "logical_nic_name": "eno1"}],
		 "network_yaml": "interfaces:\n    - name: eno1\n      type: ethernet\n      state: up\n      ipv4: {enabled: true, dhcp: true}\n"}
	]
}`

// fresh are the answers of a hub that knows nothing.
func fresh() map[string][]answer {
	return map[string][]answer{
		"GET /clusters":                                    {{200, `[]`}, {200, `[{"id": "` + clusterID + `", "name": "edge", "openshift_version": "4.19.3", "cpu_architecture": "x86_64"}]`}},
		"POST /clusters":                                   {{201, `{"id": "` + clusterID + `", "name": "edge", "later_member": 1}`}},
		"GET /clusters/" + clusterID:                       {{200, `{"id": "` + clusterID + `", "name": "edge", "install_config_overrides": "{\"fips\":true}"}`}},
		"GET /clusters/" + clusterID + "/manifests":        {{200, `[]`}},
		"POST /clusters/" + clusterID + "/manifests":       {{201, `{}`}},
		"PATCH /clusters/" + clusterID + "/install-config": {{201, ``}},
		"GET /infra-envs":                                  {{200, `[]`}},
		"POST /infra-envs":                                 {{201, `{"id": "` + envID + `"}`}},
	}
}

func TestRegister(t *testing.T) {
	g := NewWithT(t)
	hub, root := newHub(t, fresh()), host(t)
	g.Expect(os.MkdirAll(filepath.Join(root, "etc/assisted"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(root, client.ConfigFile), []byte("OTHER=1\nCLUSTER_ID=old"), 0o644)).To(Succeed())
	c := newClient(t, hub.URL, root, map[string]string{"USER_AUTH_TOKEN": "token.of.the.user", "IMAGE_TYPE_ISO": "minimal-iso"})
	g.Expect(c.Run(t.Context(), "register")).To(Succeed())
	g.Expect(hub.made()).To(Equal([]string{
		"GET /clusters",
		"POST /clusters",
		"PATCH /clusters/" + clusterID + "/install-config",
		"GET /clusters/" + clusterID,
		"GET /clusters/" + clusterID + "/manifests",
		"POST /clusters/" + clusterID + "/manifests",
		"POST /clusters/" + clusterID + "/manifests",
		"GET /clusters",
		"GET /infra-envs",
		"POST /infra-envs",
	}))
	g.Expect(hub.authorization).To(HaveEach("token.of.the.user"), "the token is sent as it is")
	g.Expect(hub.body(t, "POST /clusters")).To(MatchJSON(registerCluster))
	g.Expect(hub.body(t, "PATCH /clusters/"+clusterID+"/install-config")).To(Equal(`"{\"fips\": true}"`), "a JSON string")
	g.Expect(hub.body(t, "POST /clusters/"+clusterID+"/manifests")).
		To(MatchJSON(`{"file_name": "a.yaml", "folder": "openshift", "content": "YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmlnTWFwCm1ldGFkYXRhOgogIG5hbWU6IGEK"}`))
	g.Expect(hub.body(t, "POST /infra-envs")).To(MatchJSON(registerInfraEnv))
	g.Expect(read(t, root, client.ConfigFile)).To(Equal("OTHER=1\nCLUSTER_ID=" + clusterID + "\nINFRA_ENV_ID=" + envID + "\n"))
}

// A hub that has all of it is asked, and told nothing.
func TestRegisterAgain(t *testing.T) {
	g := NewWithT(t)
	root := host(t)
	hub := newHub(t, map[string][]answer{
		"GET /clusters": {{200, `[{"id": "` + clusterID + `", "name": "edge", "install_config_overrides": "{ \"fips\":true}"}]`}},
		"GET /clusters/" + clusterID + "/manifests": {
			{200, `[{"folder": "openshift", "file_name": "a.yaml"}, {"folder": "openshift", "file_name": "b.yml"}, {"folder": "manifests", "file_name": "c.yaml"}]`},
		},
		folderFiles:       {{200, read(t, root, "extra-manifests/a.yaml")}},
		otherFile:         {{200, read(t, root, "extra-manifests/b.yml")}},
		"GET /infra-envs": {{200, `[{"id": "` + envID + `", "cluster_id": "` + clusterID + `"}]`}},
	})
	c := newClient(t, hub.URL, root, nil)
	for range 2 {
		g.Expect(c.Run(t.Context(), "registerCluster")).To(Succeed())
		g.Expect(c.Run(t.Context(), "registerInfraEnv")).To(Succeed())
	}
	g.Expect(hub.made()).To(HaveEach(HavePrefix("GET ")))
	g.Expect(hub.authorization).To(HaveEach(""), "without a token there is no header")
	g.Expect(read(t, root, client.ConfigFile)).To(Equal("CLUSTER_ID=" + clusterID + "\nINFRA_ENV_ID=" + envID + "\n"))
}

// What a hub has that contradicts the manifests is told, and nothing is changed.
func TestRegisterBesideSomethingElse(t *testing.T) {
	one := `{"id": "` + clusterID + `", "name": "edge", "install_config_overrides": "{\"fips\":true}"}`
	for name, tc := range map[string]struct {
		subcommand string
		answers    map[string][]answer
		want       string
	}{
		"two clusters":    {"registerCluster", map[string][]answer{"GET /clusters": {{200, `[` + one + `, {"name": "core"}]`}}}, "the hub has 2 clusters (edge, core)"},
		"another cluster": {"registerCluster", map[string][]answer{"GET /clusters": {{200, `[{"name": "core"}]`}}}, "the hub has cluster core already, and /manifests/cluster-deployment.yaml names edge"},
		"another manifest of that name": {"registerCluster", map[string][]answer{
			"GET /clusters": {{200, `[` + one + `]`}}, "GET /clusters/" + clusterID + "/manifests": {{200, `[{"folder": "openshift", "file_name": "a.yaml"}]`}},
			folderFiles: {{200, "a: b\n"}}, "POST /clusters/" + clusterID + "/manifests": {{201, `{}`}},
		}, "extra manifest a.yaml: the cluster has one of this name with another content"},
		"no cluster":     {"registerInfraEnv", map[string][]answer{"GET /clusters": {{200, `[]`}}}, "the hub has no cluster yet"},
		"two infra-envs": {"registerInfraEnv", map[string][]answer{"GET /clusters": {{200, `[` + one + `]`}}, "GET /infra-envs": {{200, `[{}, {}]`}}}, "the hub has 2 infra-envs"},
		"an infra-env of another cluster": {"registerInfraEnv", map[string][]answer{
			"GET /clusters": {{200, `[` + one + `]`}}, "GET /infra-envs": {{200, `[{"name": "pool", "cluster_id": "x"}]`}},
		}, "infra-env pool of the hub is of cluster x"},
		"a refusal": {
			"registerCluster",
			map[string][]answer{"GET /clusters": {{200, `[]`}}, "POST /clusters": {{400, `{"reason": "no such version"}`}}},
			"register cluster edge: hub answered 400 Bad Request to POST /clusters: no such version",
		},
		"a bad token": {"registerCluster", map[string][]answer{"GET /clusters": {{401, `{"message": "who are you"}`}}}, "who are you"},
		"dance":       {"dance", nil, `"dance" is no subcommand: want one of register, registerCluster`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := host(t)
			err := newClient(t, newHub(t, tc.answers).URL, root, nil).Run(t.Context(), tc.subcommand)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(filepath.Join(root, client.ConfigFile)).NotTo(BeAnExistingFile())
		})
	}
}

// What is wrong with any manifest is told before the hub is asked.
func TestBadManifestsAreToldFirst(t *testing.T) {
	g := NewWithT(t)
	hub, root := newHub(t, fresh()), host(t)
	for _, name := range []string{"cluster-deployment.yaml", "nmstateconfig.yaml"} {
		file := filepath.Join(root, "manifests", name)
		g.Expect(os.WriteFile(file, []byte(strings.Replace(read(t, root, "manifests/"+name), "spec:", "spec:\n  sped: 1", 1)), 0o600)).To(Succeed())
	}
	c := newClient(t, hub.URL, root, nil)
	g.Expect(c.Run(t.Context(), "register")).To(MatchError(And(
		ContainSubstring("/manifests/cluster-deployment.yaml, document 1, line 8: spec.sped is unknown"),
		ContainSubstring("/manifests/nmstateconfig.yaml, document 1, line 8: spec.sped is unknown"),
	)))
	g.Expect(hub.made()).To(BeEmpty())
	c.Settings.Lenient = true
	g.Expect(c.Run(t.Context(), "register")).To(Succeed())
}

// A single node, and one of source kubernetes, whose settings other hubs ignore.
func TestSmallClusters(t *testing.T) {
	g := NewWithT(t)
	root := host(t)
	g.Expect(os.WriteFile(filepath.Join(root, "manifests/agent-cluster-install.yaml"), []byte(`
apiVersion: extensions.hive.openshift.io/v1beta1
kind: AgentClusterInstall
metadata:
  name: edge
  annotations:
    ironflow.io/ignition-source: kubernetes
    ironflow.io/kubernetes-version: v1.37.1
    ironflow.io/kubernetes: '{"endpoint": "api.edge.example:6443"}'
spec:
  clusterDeploymentRef: {name: edge}
  platformType: None
  networking: {}
  provisionRequirements: {controlPlaneAgents: 1}
`), 0o600)).To(Succeed())
	for _, name := range []string{"cluster-image-set.yaml", "infraenv.yaml", "nmstateconfig.yaml"} {
		g.Expect(os.Remove(filepath.Join(root, "manifests", name))).To(Succeed())
	}
	g.Expect(os.RemoveAll(filepath.Join(root, "extra-manifests"))).To(Succeed())
	hub := newHub(t, fresh())
	g.Expect(newClient(t, hub.URL, root, nil).Run(t.Context(), "registerCluster")).To(Succeed())
	g.Expect(hub.made()).To(Equal([]string{"GET /clusters", "POST /clusters"}))
	g.Expect(hub.body(t, "POST /clusters")).To(MatchJSON(`{
		"name": "edge", "base_dns_domain": "lab.example", "pull_secret": "{\"auths\":{\"registry.example\":{\"auth\":\"dTpw\"}}}",
		"openshift_version": "", "control_plane_count": 1, "high_availability_mode": "None", "user_managed_networking": true, "platform": {"type": "none"},
		"hyperthreading": "all", "ignition_source": "kubernetes", "kubernetes": {"version": "v1.37.1", "endpoint": "api.edge.example:6443"},
		"api_vips": null, "ingress_vips": null, "cluster_networks": null, "service_networks": null, "machine_networks": null, "olm_operators": null, "operator_bundles": null
	}`))
}

// A host keeps below /etc/assisted what a container has below /.
func TestWhereManifestsLie(t *testing.T) {
	g, root := NewWithT(t), t.TempDir()
	from := func() client.Settings {
		return client.FromEnv(func(name string) string { return map[string]string{"INFRA_ENV_FILE": " /own.yaml "}[name] }, hostfile.Dir{Root: root})
	}
	g.Expect(from().Files.ClusterDeployment).To(Equal("/manifests/cluster-deployment.yaml"))
	g.Expect(os.MkdirAll(filepath.Join(root, "etc/assisted/manifests"), 0o755)).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Join(root, "etc/assisted/extra-manifests"), 0o755)).To(Succeed())
	g.Expect(from().Files.ClusterDeployment).To(Equal("/etc/assisted/manifests/cluster-deployment.yaml"))
	g.Expect(from().Files.ExtraManifests).To(Equal("/etc/assisted/extra-manifests"))
	g.Expect(from().Files.InfraEnv).To(Equal("/own.yaml"))
	g.Expect(os.MkdirAll(filepath.Join(root, "manifests"), 0o755)).To(Succeed())
	g.Expect(from().Files.ClusterDeployment).To(Equal("/manifests/cluster-deployment.yaml"))
}

// late is a hub that answers from a time on.
type late struct {
	client.Hub

	from time.Time
}

func (l late) Do(_ context.Context, r hubclient.Request) error {
	if time.Now().Before(l.from) {
		return errors.New("connection refused")
	}
	return json.Unmarshal([]byte(`[{"name": "core"}]`), r.Out)
}

// On node zero the client and the hub start together.
func TestAHubThatStartsLater(t *testing.T) {
	root := host(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		began := time.Now()
		c := &client.Client{
			Settings: client.FromEnv(func(string) string { return "" }, hostfile.Dir{Root: root}), Hub: late{from: began.Add(40 * time.Second)},
			Dir: hostfile.Dir{Root: root}, Log: slog.New(slog.DiscardHandler),
		}
		var told []time.Duration
		c.Waits = func(err error) {
			g.Expect(err).To(MatchError("connection refused"))
			told = append(told, time.Since(began))
		}
		g.Expect(c.Run(t.Context(), "registerCluster")).To(MatchError(ContainSubstring("the hub has cluster core already")))
		g.Expect(time.Since(began)).To(Equal(61*time.Second), "after 1, 2, 4, 8, 16 and 30 s")
		g.Expect(told).To(Equal([]time.Duration{31 * time.Second}), "not while it starts as usual")
	})
}

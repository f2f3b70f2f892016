package rest_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// client calls the hub with bodies that are written by hand.
type client struct {
	*testing.T
	*WithT
	caller *testhub.Caller
}

func newClient(t *testing.T, caller *testhub.Caller) client { return client{t, NewWithT(t), caller} }

// do sends a body as it stands and returns the answer's.
func (c client) do(method, path, body string, want int) string {
	c.Helper()
	code, raw := c.caller.Send(c.T, method, path, "application/json", strings.NewReader(body), nil)
	c.Expect(code).To(Equal(want), "%s %s: %s", method, path, raw)
	return raw
}

// read decodes an answer.
func (c client) read(method, path, body string, want int) map[string]any {
	c.Helper()
	out := map[string]any{}
	c.Expect(jsonInto(c.do(method, path, body, want), &out)).To(Succeed())
	return out
}

// newCluster registers a cluster by hand and returns its path.
func (c client) newCluster() string {
	c.Helper()
	made := c.read("POST", "/clusters", `{"name":"edge","base_dns_domain":"example","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}","control_plane_count":1}`, 201)
	return "/clusters/" + made["id"].(string)
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestManifests(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	cluster := c.newCluster()
	add := func(folder, name, content string, want int) string {
		t.Helper()
		return c.do("POST", cluster+"/manifests", `{"folder":"`+folder+`","file_name":"`+name+`","content":"`+encoded(content)+`"}`, want)
	}
	c.Expect(c.do("GET", cluster+"/manifests", "", 200)).To(MatchJSON(`[]`))
	c.Expect(add("openshift", "b.yaml", "kind: B\n", 201)).To(MatchJSON(`{"folder":"openshift","file_name":"b.yaml","manifest_source":"user"}`))
	c.do("POST", cluster+"/manifests", `{"file_name":"a.json","content":"`+encoded(`{"kind":"A"}`)+`"}`, 201)
	c.Expect(c.do("GET", cluster+"/manifests?include_system_generated=true", "", 200)).To(MatchJSON(
		`[{"folder":"manifests","file_name":"a.json","manifest_source":"user"},{"folder":"openshift","file_name":"b.yaml","manifest_source":"user"}]`))
	c.Expect(c.do("GET", cluster+"/manifests/files?folder=openshift&file_name=b.yaml", "", 200)).To(Equal("kind: B\n"))

	c.Expect(add("manifests", "b.yaml", "kind: B\n", 400)).To(ContainSubstring("in folder openshift already"))
	c.Expect(add("manifests", "../b.yaml", "kind: B\n", 400)).To(ContainSubstring("file_name"))
	for _, name := range []string{"a/../b.yaml", `a\\b.yaml`, "..yaml", ".yaml", "a b.yaml", "a.txt", ""} {
		c.Expect(add("openshift", name, "kind: B\n", 400)).To(ContainSubstring("want a name such as"), name)
	}
	c.do("POST", cluster+"/manifests", `{"file_name":"c.yaml","content":"!"}`, 400)
	c.do("POST", cluster+"/manifests", `{"folder":"../openshift","file_name":"c.yaml","content":"YTogYgo="}`, 400)
	c.Expect(add("manifests", "c.yaml", "words", 400)).To(ContainSubstring("no object"))
	c.do("GET", cluster+"/manifests/files?file_name=b.yaml", "", 404)

	c.do("PATCH", cluster+"/manifests", `{"folder":"openshift","file_name":"b.yaml","updated_folder":"manifests","updated_file_name":"c.yaml","updated_content":"`+encoded("kind: C\n")+`"}`, 200)
	c.Expect(c.do("GET", cluster+"/manifests/files?file_name=c.yaml", "", 200)).To(Equal("kind: C\n"))
	c.do("GET", cluster+"/manifests/files?folder=openshift&file_name=b.yaml", "", 404)
	c.do("PATCH", cluster+"/manifests", `{"folder":"manifests","file_name":"c.yaml","updated_file_name":"a.json"}`, 400)
	c.do("PATCH", cluster+"/manifests", `{"folder":"manifests","file_name":"none.yaml","updated_file_name":"d.yaml"}`, 404)
	c.do("PATCH", cluster+"/manifests", `{"folder":"manifests","file_name":"c.yaml","updated_file_name":"../d.yaml"}`, 400)

	link := c.read("GET", cluster+"/downloads/files-presigned?file_name=manifests&additional_name=manifests/c.yaml", "", 200)
	c.Expect(link["url"]).To(ContainSubstring("api_key="))

	c.do("DELETE", cluster+"/manifests?file_name=c.yaml", "", 200)
	c.do("DELETE", cluster+"/manifests?file_name=c.yaml", "", 404)
	c.do("DELETE", cluster, "", 204)
	c.do("GET", cluster+"/manifests", "", 404)
}

func TestInstallConfig(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	cluster := c.newCluster()
	text := func() string {
		var config string
		c.Expect(jsonInto(c.do("GET", cluster+"/install-config", "", 200), &config)).To(Succeed())
		return config
	}
	c.Expect(text()).To(And(ContainSubstring("name: edge"), ContainSubstring("baseDomain: example"), ContainSubstring("none: {}")))
	c.do("PATCH", cluster+"/install-config", `"{\"fips\":true,\"networking\":{\"networkType\":\"Calico\"}}"`, 201)
	c.Expect(text()).To(And(ContainSubstring("fips: true"), ContainSubstring("networkType: Calico"), ContainSubstring("serviceNetwork")))
	c.Expect(c.read("GET", cluster, "", 200)["install_config_overrides"]).To(MatchJSON(`{"fips":true,"networking":{"networkType":"Calico"}}`))
	c.do("PATCH", cluster+"/install-config", `"[]"`, 400)
	c.do("PATCH", cluster+"/install-config", `{"fips":true}`, 400)
	c.Expect(c.do("GET", "/events?cluster_id="+strings.TrimPrefix(cluster, "/clusters/"), "", 200)).To(ContainSubstring("install_config_applied"))

	imported := c.read("POST", "/clusters/import", `{"name":"old","api_vip_dnsname":"api.old.example","openshift_cluster_id":"`+uuid.NewString()+`"}`, 201)
	c.do("PATCH", "/clusters/"+imported["id"].(string)+"/install-config", `"{}"`, 400)
}

func TestUISettings(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	cluster := c.newCluster()
	c.Expect(c.do("GET", cluster+"/ui-settings", "", 200)).To(MatchJSON(`""`))
	c.Expect(c.do("PUT", cluster+"/ui-settings", `"{\"step\":3}"`, 200)).To(MatchJSON(`"{\"step\":3}"`))
	c.Expect(c.do("GET", cluster+"/ui-settings", "", 200)).To(MatchJSON(`"{\"step\":3}"`))
	c.do("PUT", cluster+"/ui-settings", `{"step":3}`, 400)
	c.do("PUT", cluster+"/ui-settings", `"`+strings.Repeat("x", 70_000)+`"`, 400)
	c.do("GET", "/clusters/"+uuid.NewString()+"/ui-settings", "", 404)
}

func TestOtherKindsOfClusters(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	imported := c.read("POST", "/clusters/import", `{"name":"old","api_vip_dnsname":"api.old.example","openshift_cluster_id":"5f0f7a5e-8c1c-4e0f-9d75-3f1d1f6c2b11","openshift_version":"4.20"}`, 201)
	c.Expect(imported).To(And(HaveKeyWithValue("kind", "AddHostsCluster"), HaveKeyWithValue("status", "adding-hosts"), HaveKeyWithValue("imported", true),
		HaveKeyWithValue("api_vip_dns_name", "api.old.example"), HaveKeyWithValue("openshift_cluster_id", "5f0f7a5e-8c1c-4e0f-9d75-3f1d1f6c2b11")))
	c.Expect(c.read("GET", "/clusters/"+imported["id"].(string), "", 200)["status"]).To(Equal("adding-hosts"), "and it stays so")
	c.do("POST", "/clusters/import", `{"name":"old","api_vip_dnsname":"a","openshift_cluster_id":"x"}`, 400)
	c.do("POST", "/clusters/import", `{"name":"old","api_vip_dnsname":"a b","openshift_cluster_id":"`+uuid.NewString()+`"}`, 400)
	c.do("POST", "/clusters/import", `{"name":"Old!","api_vip_dnsname":"a","openshift_cluster_id":"`+uuid.NewString()+`"}`, 400)

	for _, member := range []string{`"image_type":"disconnected-iso"`, `"rendezvous_ip":"192.0.2.10"`} {
		c.Expect(c.do("POST", "/infra-envs", `{"name":"pool","pull_secret":"{\"auths\":{}}",`+member+`}`, 400)).To(ContainSubstring("disconnected-iso"))
	}
	apart := c.read("POST", "/clusters/disconnected", `{"name":"apart","openshift_version":"4.20"}`, 201)
	c.Expect(apart).To(And(HaveKeyWithValue("kind", "DisconnectedCluster"), HaveKeyWithValue("status", "unmonitored")))
	c.do("POST", "/clusters/disconnected", `{"name":"apart"}`, 400)
	c.do("POST", "/clusters", `{"name":"edge","openshift_version":"4.20","pull_secret":"{\"auths\":{}}","olm_operators":[{"name":"odf"}]}`, 400)
}

func TestSettingsOfAClusterThatMeanNothing(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	cluster := c.newCluster()
	for body, why := range map[string]string{
		`{"api_vips":[{"ip":"192.0.2.300"}]}`:                              "want an IP address",
		`{"ingress_vips":[{"ip":"ingress"}]}`:                              "want an IP address",
		`{"machine_networks":[{"cidr":"192.0.2.0"}]}`:                      "want a network",
		`{"machine_networks":[{"cidr":"192.0.2.7/24"}]}`:                   "which is 192.0.2.0/24",
		`{"machine_network_cidr":"all"}`:                                   "want a network",
		`{"service_networks":[{"cidr":"172.30.0.0/33"}]}`:                  "want a network",
		`{"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":64}]}`: "want 1 to 32",
		`{"network_type":"Magic"}`:                                         "want one of",
		`{"hyperthreading":"some"}`:                                        "want one of",
		`{"http_proxy":"user:secret@proxy"}`:                               "want a URL",
	} {
		answer := c.do("PATCH", cluster, body, 400)
		c.Expect(answer).To(ContainSubstring(why), body)
		c.Expect(answer).NotTo(ContainSubstring("secret"))
	}
	const create = `{"name":"edge","openshift_version":"4.20","pull_secret":"{\"auths\":{}}",`
	c.do("POST", "/clusters", create+`"api_vips":[{"ip":"none"}]}`, 400)
	c.do("POST", "/clusters", create+`"cpu_architecture":"vax"}`, 400)

	made := c.read(
		"POST", "/clusters",
		create+`"cluster_network_cidr":"10.200.0.0/16","cluster_network_host_prefix":24,"hyperthreading":"masters","schedulable_masters":true,"ntp_sources":"ntp.example"}`,
		201,
	)
	c.Expect(made).To(And(HaveKeyWithValue("hyperthreading", "masters"), HaveKeyWithValue("schedulable_masters", true), HaveKeyWithValue("ntp_sources", "ntp.example"),
		HaveKeyWithValue("cluster_networks", ConsistOf(And(HaveKeyWithValue("cidr", "10.200.0.0/16"), HaveKeyWithValue("host_prefix", 24.0))))))
	changed := c.read("PATCH", "/clusters/"+made["id"].(string), `{"machine_network_cidr":"192.0.2.0/24","service_network_cidr":"172.31.0.0/16"}`, 201)
	c.Expect(changed).To(And(
		HaveKeyWithValue("machine_networks", ConsistOf(HaveKeyWithValue("cidr", "192.0.2.0/24"))),
		HaveKeyWithValue("service_networks", ConsistOf(HaveKeyWithValue("cidr", "172.31.0.0/16")))))
}

func TestRequirementsBeforehand(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	needs := c.read("GET", c.newCluster()+"/preflight-requirements", "", 200)
	c.Expect(needs["ocp"]).To(HaveKeyWithValue("master", HaveKeyWithValue("quantitative", And(
		HaveKeyWithValue("cpu_cores", 8.0), HaveKeyWithValue("ram_mib", 16384.0), HaveKeyWithValue("disk_size_gb", 100.0)))))
	c.Expect(needs["operators"]).To(BeEmpty())
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: edge
  cluster: {server: "https://api.edge.example:6443", certificate-authority-data: S05PV04K}
`

const certificate = "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n"

// TestFinalizing: the end of an installation as the program inside the cluster tells it.
func TestFinalizing(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: service.Timers{
		Monitor: 10 * time.Millisecond, Finalizing: map[wire.FinalizingStage]time.Duration{wire.FinalizingStageApplyingOlmManifests: time.Millisecond},
	}})
	scene := singleNode(t)
	scene.hosts[0].disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 1}
	scene.hosts[0].images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
		{Name: scene.cluster.OcpReleaseImage, Result: wire.ContainerImageAvailabilityResultSuccess},
	}}
	p := scene.play(t, hub)
	g.Expect(os.Mkdir(filepath.Join(dir, p.cluster), 0o700)).To(Succeed())
	for name, content := range map[string]string{"kubeconfig-noingress": kubeconfig, "kubeadmin-password": "hunter2\n", "metadata.json": "{}", "master.ign": `{"ignition":{"version":"3.2.0"}}`} {
		g.Expect(os.WriteFile(filepath.Join(dir, p.cluster, name), []byte(content), 0o600)).To(Succeed())
	}
	user, cluster := newClient(t, hub.User()), "/clusters/"+p.cluster
	token, err := hub.AgentToken(t.Context(), p.hosts[0].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	inside := newClient(t, hub.Agent(token))
	user.do("GET", cluster+"/credentials", "", 409)
	inside.do("PUT", cluster+"/progress", `{"finalizing_stage":"Adding router ca"}`, 409)
	inside.do("POST", cluster+"/uploads/ingress-cert", `"`+strings.ReplaceAll(certificate, "\n", "\\n")+`"`, 400)
	user.do("POST", cluster+"/manifests", `{"folder":"openshift","file_name":"b.yaml","content":"`+encoded("kind: B\n")+`"}`, 201)
	user.do("POST", cluster+"/actions/install", "", 202)
	g.Eventually(func() any { return user.read("GET", cluster, "", 200)["status"] }, "30s", "20ms").Should(Equal(wire.ClusterStatusInstalling), "its Ignition is made beside the call")
	for _, stage := range []wire.HostStage{wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageDone} {
		hub.Agent(token).Progress(t, p.hosts[0], stage, "")
	}
	status := func() any { return user.read("GET", cluster, "", 200)["status"] }
	g.Expect(status()).To(Equal("finalizing"), "the cluster's own services are not up yet")

	inside.do("PUT", cluster+"/progress", `{"finalizing_stage":"Waiting for cluster operators"}`, 200)
	inside.do("PUT", cluster+"/progress", `{"finalizing_stage":"Waiting for cluster operators"}`, 200)
	inside.do("PUT", cluster+"/progress", `{"finalizing_stage":"Waiting for luck"}`, 400)
	g.Expect(user.read("GET", cluster, "", 200)["progress"]).To(And(
		HaveKeyWithValue("finalizing_stage", "Waiting for cluster operators"), HaveKeyWithValue("finalizing_stage_percentage", 14.0)))
	g.Expect(inside.do("GET", cluster+"/monitored-operators", "", 200)).To(And(ContainSubstring(`"console"`), ContainSubstring(`"cvo"`)))
	inside.do("PUT", cluster+"/progress", `{"finalizing_stage":"Applying olm manifests"}`, 200)
	g.Eventually(func() any { return user.read("GET", cluster, "", 200)["progress"] }, "30s", "20ms").Should(HaveKeyWithValue("finalizing_stage_timed_out", true))
	inside.do("GET", cluster+"/monitored-operators?operator_name=odf", "", 404)
	inside.do("PUT", cluster+"/monitored-operators", `{"name":"odf","status":"available"}`, 404)
	inside.do("PUT", cluster+"/monitored-operators", `{"name":"console","status":"dancing"}`, 400)
	for _, name := range []string{"console", "cvo"} {
		inside.do("PUT", cluster+"/monitored-operators", `{"name":"`+name+`","status":"available","version":"4.20.1","status_info":"up"}`, 200)
	}
	g.Expect(status()).To(Equal("finalizing"), "the certificate of the routes is missing")

	g.Expect(user.do("GET", cluster+"/downloads/credentials?file_name=kubeconfig", "", 200)).To(Equal(kubeconfig))
	for _, call := range []string{"credentials", "files"} {
		g.Expect(inside.do("GET", cluster+"/downloads/"+call+"?file_name=kubeconfig", "", 200)).To(Equal(kubeconfig), "both calls are in use")
	}
	inside.do("POST", cluster+"/uploads/ingress-cert", `"no certificate"`, 400)
	for range 2 { // it may be sent again
		inside.do("POST", cluster+"/uploads/ingress-cert", `"`+strings.ReplaceAll(certificate, "\n", "\\n")+`"`, 201)
	}
	g.Expect(status()).To(Equal("installed"))
	g.Expect(user.do("GET", cluster+"/downloads/credentials?file_name=kubeconfig", "", 200)).To(ContainSubstring(encoded("KNOWN\n" + certificate)))
	g.Expect(user.do("GET", cluster+"/downloads/credentials?file_name=kubeconfig-noingress", "", 200)).To(Equal(kubeconfig))
	g.Expect(user.do("GET", cluster+"/credentials", "", 200)).To(MatchJSON(
		`{"username":"kubeadmin","password":"hunter2","console_url":"https://console-openshift-console.apps.edge.example"}`))
	user.do("GET", cluster+"/downloads/credentials?file_name=etc", "", 400)
	user.do("GET", cluster+"/downloads/files?file_name=metadata.json", "", 200)
	user.do("GET", cluster+"/downloads/files?file_name=bootstrap.ign", "", 409)
	g.Expect(user.do("GET", cluster+"/downloads/files?file_name=install-config.yaml", "", 200)).To(ContainSubstring("name: edge"))
	g.Expect(user.do("GET", cluster+"/downloads/files?file_name=custom_manifests.yaml", "", 200)).To(ContainSubstring("kind: B"))
	g.Expect(user.do("GET", cluster+"/downloads/files?file_name=custom_manifests.json", "", 200)).To(MatchJSON(`[{"folder":"openshift","file_name":"b.yaml","content":"kind: B\n"}]`))
	inside.do("POST", cluster+"/actions/complete-installation", `{"is_success":false,"error_info":"odf"}`, 202)
	g.Expect(user.do("GET", "/events?cluster_id="+p.cluster, "", 200)).To(And(
		ContainSubstring("cluster_degraded_OLM_operators_failed"), ContainSubstring("cluster_finalizing_stage_updated"), ContainSubstring("cluster_operator_status")))
	g.Expect(hub.Timeline(t)).NotTo(ContainSubstring("hunter2"))

	for path, content := range map[string]string{
		cluster + "/downloads/credentials-presigned?file_name=kubeadmin-password": "hunter2\n",
		cluster + "/downloads/files-presigned?file_name=metadata.json":            "{}",
	} {
		link := user.read("GET", path, "", 200)["url"].(string)
		nobody := newClient(t, hub.Agent(""))
		_, signed, found := strings.Cut(link, "/v2")
		g.Expect(found).To(BeTrue(), link)
		g.Expect(nobody.do("GET", signed, "", 200)).To(Equal(content), "the address alone opens it")
		nobody.do("GET", strings.Replace(signed, "file_name=", "file_name=x", 1), "", 401)
		nobody.do("GET", strings.Replace(signed, p.cluster, uuid.NewString(), 1), "", 401)
	}
	user.do("GET", cluster+"/downloads/files-presigned?file_name=worker.ign", "", 409)
	user.do("GET", cluster+"/downloads/files-presigned?file_name=logs", "", 200) // what the hub knows is in it, if nobody has sent any
	user.do("POST", cluster+"/actions/allow-add-workers", "", 202)
}

// live is what an image server would make.
type live struct{}

func (live) Ignition(_ context.Context, _ string, minimal bool) ([]byte, error) {
	return fmt.Appendf(nil, `{"ignition":{},"minimal":%t}`, minimal), nil
}

func (live) Initrd(_ context.Context, id string) ([]byte, error) {
	if id == withProxy {
		return []byte("archive"), nil
	}
	return nil, nil
}

const withProxy = "22222222-2222-4222-8222-222222222222"

func TestBootFiles(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{
		API: func(o *rest.Options) { o.LiveFiles = live{} },
		ImageURLs: func(env wire.InfraEnv, token string) (service.ImageURLs, error) {
			at := "http://images.example/" + env.ID + "/" + token
			return service.ImageURLs{ISO: at + "/full.iso", Initrd: at + "/initrd", Kernel: at + "/kernel", Rootfs: at + "/rootfs"}, nil
		},
	})
	user, nobody := newClient(t, hub.User()), newClient(t, hub.Agent(""))
	env := user.read("POST", "/infra-envs", `{"name":"pool","pull_secret":"{\"auths\":{}}","kernel_arguments":[{"operation":"append","value":"a=b"}],
		"static_network_config":[{"network_yaml":"interfaces: []","mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"eth0"}]}]}`, 201)["id"].(string)
	files := "/infra-envs/" + env + "/downloads/files"
	user.do("PATCH", "/infra-envs/"+env, `{"static_network_config":[{"network_yaml":"interfaces: []","mac_interface_map":[{"mac_address":"eth0","logical_nic_name":"eth0"}]}]}`, 400)
	for _, document := range []string{"interfaces: {a: b}", "", "interfaces: [{name: nic2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]"} {
		user.do("PATCH", "/infra-envs/"+env, `{"static_network_config":[{"network_yaml":"`+document+`","mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"nic1"}]}]}`, 400)
	}
	g.Expect(user.read("GET", "/infra-envs/"+env+"/downloads/image-url", "", 200)["url"]).To(HaveSuffix("/full.iso"))
	g.Expect(user.do("GET", files+"?file_name=discovery.ign", "", 200)).To(MatchJSON(`{"ignition":{},"minimal":false}`))
	g.Expect(user.do("GET", files+"?file_name=discovery.ign&discovery_iso_type=minimal-iso", "", 200)).To(MatchJSON(`{"ignition":{},"minimal":true}`))
	user.do("PATCH", "/infra-envs/"+env, `{"image_type":"minimal-iso"}`, 201)
	g.Expect(user.do("GET", files+"?file_name=discovery.ign", "", 200)).To(MatchJSON(`{"ignition":{},"minimal":true}`), "the infra-env's own kind")
	g.Expect(user.do("GET", files+"?file_name=discovery.ign&discovery_iso_type=full-iso", "", 200)).To(MatchJSON(`{"ignition":{},"minimal":false}`))
	g.Expect(user.do("GET", files+"?file_name=static-network-config", "", 200)).To(ContainSubstring("52:54:00:00:00:01=eth0"))
	user.do("GET", files+"?file_name=passwd", "", 400)
	user.do("GET", files+"?file_name=discovery.ign&discovery_iso_type=disconnected-iso", "", 400)
	user.do("GET", "/infra-envs/"+env+"/downloads/minimal-initrd", "", 204)
	_, err := hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: withProxy, Name: "proxy"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(user.do("GET", "/infra-envs/"+withProxy+"/downloads/minimal-initrd", "", 200)).To(Equal("archive"))

	link := user.read("GET", files+"-presigned?file_name=ipxe-script&ipxe_script_type=boot-order-control", "", 200)["url"].(string)
	_, signed, _ := strings.Cut(link, "/v2")
	redirect := nobody.do("GET", signed, "", 200)
	g.Expect(redirect).To(And(HavePrefix("#!ipxe\nchain "), HaveSuffix("&mac=${net0/mac}\n")))
	address := strings.TrimSuffix(strings.TrimPrefix(redirect, "#!ipxe\nchain "), "${net0/mac}\n")
	_, address, _ = strings.Cut(address, "/v2")
	g.Expect(nobody.do("GET", address+"52:54:00:00:00:01", "", 200)).To(And(ContainSubstring("/kernel initrd=initrd"), ContainSubstring("a=b"), HaveSuffix("\nboot\n")))
	query, err := url.ParseQuery(signed[strings.Index(signed, "?")+1:])
	g.Expect(err).NotTo(HaveOccurred())
	image := "&api_key=" + query.Get("api_key")
	nobody.do("GET", files+"?file_name=ipxe-script", "", 401)
	nobody.do("GET", "/infra-envs/"+withProxy+"/downloads/files?file_name=ipxe-script"+image, "", 404)
	nobody.do("GET", "/infra-envs/"+env+"/hosts?x=y"+image, "", 401)
	g.Expect(nobody.do("GET", "/events?infra_env_id="+env+image, "", 200)).To(ContainSubstring(env), "as debugInfo of an InfraEnv hands it out")
	nobody.do("GET", "/events?infra_env_id="+withProxy+image, "", 404)
	nobody.do("GET", "/events?limit=5"+image, "", 404)
	nobody.do("GET", "/events?infra_env_id="+env, "", 401)
	nobody.do("GET", "/events?infra_env_id="+env+"&api_key=made-up", "", 401)
	g.Expect(newClient(t, hub.Agent("").With("Image-Token", query.Get("api_key"))).do("GET", "/infra-envs/"+env, "", 200)).To(ContainSubstring("pool"))

	host := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	token, err := hub.AgentToken(t.Context(), env)
	g.Expect(err).NotTo(HaveOccurred())
	agent := hub.Agent(token)
	agent.Register(t, host)
	for _, step := range agent.Poll(t, host).Instructions {
		agent.Answer(t, host, step, testhub.Inventory(7))
	}
	g.Expect(nobody.do("GET", address+"02:00:00:00:00:07", "", 200)).To(ContainSubstring("/kernel"), "a new host boots the image")

	user.do("POST", "/infra-envs/"+env+"/regenerate-signing-key", "", 204)
	nobody.do("GET", signed, "", 401)
	agent.Poll(t, host)
	for arguments, want := range map[string]string{
		`{"operation":"append","value":"x"},{"operation":"prepend","value":"x"}`: "kernel_arguments[1].operation",
		`{"value":"x"}`:                                                              "kernel_arguments[0].operation",
		`{"operation":"append","value":""}`:                                          "kernel_arguments[0].value is required",
		`{"operation":"replace","value":"x=y"}`:                                      "want KEY=OLD=NEW",
		`{"operation":"append","value":"coreos.inst.install_dev=/dev/sda"}`:          "kernel_arguments[0].value: coreos.inst.install_dev: it steers CoreOS' own installer",
		`{"operation":"append","value":"coreos.inst.persistent-kargs=console=tty0"}`: "coreos.inst.persistent-kargs: no installer reads it",
	} {
		g.Expect(user.do("PATCH", "/infra-envs/"+env, `{"kernel_arguments":[`+arguments+`]}`, 400)).To(ContainSubstring(want))
	}
	user.do("PATCH", "/infra-envs/"+env, `{"kernel_arguments":[{"operation":"delete","value":"quiet"}]}`, 201)
	g.Expect(user.do("GET", files+"?file_name=ipxe-script", "", 400)).To(ContainSubstring("append"))
}

func TestResetOfAValidation(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	scene := singleNode(t)
	scene.hosts[0].disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 99}
	p := scene.play(t, hub)
	user := newClient(t, hub.User())
	at := "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts/" + p.hosts[0].HostID
	_, found := p.host(t, 0)
	g.Expect(found["sufficient-installation-disk-speed"].Status).To(Equal("failure"))
	user.do("PATCH", at+"/actions/reset-validation/sufficient-installation-disk-speed", "", 200)
	_, found = p.host(t, 0)
	g.Expect(found["sufficient-installation-disk-speed"].Status).NotTo(Equal("failure"), "it is measured anew")
	user.do("PATCH", at+"/actions/reset-validation/connected", "", 400)
}

// TestTheRest has the operations that no other test is about.
func TestTheRest(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	user, agent := newClient(t, f.User()), newClient(t, f.Agent(f.token))
	host := "/infra-envs/" + f.env + "/hosts/" + f.host.HostID
	g.Expect(user.read("GET", host, "", 200)["id"]).To(Equal(f.host.HostID))
	g.Expect(user.do("GET", host+"/ignition", "", 200)).To(MatchJSON(`{}`))
	agent.do("PUT", host+"/logs-progress", `{"logs_state":"collecting"}`, 204)
	g.Expect(user.read("GET", host, "", 200)["logs_info"]).To(Equal("collecting"))
	agent.do("PUT", "/clusters/"+f.cluster+"/logs-progress", `{"logs_state":"requested"}`, 204)
	agent.do("POST", "/events", `{"name":"seen","message":"something was seen","severity":"info","event_time":"2026-01-02T03:04:05.000Z"}`, 201)
	g.Expect(user.do("GET", "/events?message=SOMETHING", "", 200)).To(ContainSubstring("something was seen"))
	g.Expect(user.do("GET", "/domains", "", 200)).To(MatchJSON(`[]`))
	g.Expect(user.read("GET", "/component-versions", "", 200)["versions"]).To(HaveKey("ironflow"))
	g.Expect(user.read("GET", "/clusters/default-config", "", 200)["cluster_network_cidr"]).To(Equal("10.128.0.0/14"))
	g.Expect(user.do("GET", "/clusters/"+f.cluster+"/ignored-validations", "", 200)).To(MatchJSON(`{}`))

	day2 := installed(t, f.Hub, singleNode(t).cluster).ID
	g.Expect(user.do("PUT", "/clusters/"+day2+"/ignored-validations", `{"host-validation-ids":"[\"ntp-synced\"]"}`, 201)).To(ContainSubstring("ntp-synced"))
	s := joining(t)
	p := s.play(t, f.Hub)
	at := "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts/" + p.hosts[0].HostID
	g.Expect(user.read("POST", at+"/actions/install", "", 202)["status"]).To(Equal("installing"))
	g.Expect(user.read("POST", at+"/actions/reset", "", 200)["status"]).To(Equal("resetting-pending-user-action"))
	user.do("POST", "/clusters/"+f.cluster+"/actions/allow-add-workers", "", 409)
}

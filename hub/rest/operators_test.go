package rest_test

import (
	"encoding/base64"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/openshiftinstall"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	standin "github.com/ironflow/ironflow/test/openshiftinstall"
)

// withInstaller is a hub that runs openshift-install, as far as its stand-in goes; in the folder of another one, if given.
func withInstaller(t *testing.T, table operators.Table, dir ...string) *testhub.Hub {
	t.Helper()
	program, err := openshiftinstall.New(openshiftinstall.Options{Program: standin.New(t).Path, State: filepath.Join(t.TempDir(), "state")})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = program.Close() })
	return testhub.Start(t, testhub.Options{
		Sources: map[sources.Name]sources.Source{sources.OpenShiftInstall: program}, Operators: table, Dir: strings.Join(dir, ""),
		Inside: inside.Program{Image: "registry.example/ironflow-cluster:1", URL: "https://hub.example"}, Timers: service.Timers{Monitor: 10 * time.Millisecond},
	})
}

// ofInstaller has the scene's cluster made by openshift-install, with operators.
func (s *scene) ofInstaller(names ...string) *scene {
	s.cluster.IgnitionSource = string(sources.OpenShiftInstall)
	s.cluster.PullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpwYXNz"}}}`
	for _, name := range names {
		s.cluster.OlmOperators = append(s.cluster.OlmOperators, wire.OperatorCreateParams{Name: name})
	}
	return s
}

// besides are the names of operators beside the release, in order.
func besides(c wire.Cluster) (names []string) {
	for _, o := range c.MonitoredOperators {
		if o.OperatorType == wire.OperatorTypeOlm {
			names = append(names, o.Name)
		}
	}
	return names
}

func TestWhatAHubOffersThatInstallsOperators(t *testing.T) {
	c := newClient(t, withInstaller(t, operators.Table{}).User())
	c.Expect(c.do("GET", "/supported-operators", "", 200)).To(And(ContainSubstring(`"lvm"`), ContainSubstring(`"nvidia-gpu"`)))
	c.Expect(c.do("GET", "/supported-operators/odf", "", 200)).To(MatchJSON(`[]`))
	c.Expect(c.do("GET", "/supported-operators/odd", "", 404)).To(ContainSubstring("see supported-operators"))
	c.Expect(c.do("GET", "/operators/bundles?openshift_version=4.20", "", 200)).To(And(ContainSubstring("virtualization"), ContainSubstring("openshift-ai")))
	c.Expect(c.read("GET", "/operators/bundles/virtualization", "", 200)).To(HaveKeyWithValue("operators", ContainElements("cnv", "node-healthcheck")))
	c.Expect(c.read("GET", "/operators/bundles/virtualization?feature_ids=SNO", "", 200)).To(HaveKeyWithValue("operators", Not(ContainElement("node-healthcheck"))))
	c.do("GET", "/operators/bundles/odd", "", 404)
	c.Expect(c.read("GET", "/support-levels/features?openshift_version=4.20", "", 200)["features"]).To(And(HaveKeyWithValue("ODF", "supported"), HaveKeyWithValue("SNO", "supported")))
	c.Expect(c.read("GET", "/support-levels/features/detailed?openshift_version=4.11", "", 200)["operators"]).To(ContainElement(And(
		HaveKeyWithValue("name", "lvm"), HaveKeyWithValue("support_level", "unavailable"), HaveKeyWithValue("reason", "openshiftVersion"),
		HaveKeyWithValue("incompatibilities", ContainElement("ODF")))))

	made := c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}","ignition_source":"openshift-install"}`, 201)
	needs := c.read("GET", "/clusters/"+made["id"].(string)+"/preflight-requirements", "", 200)["operators"]
	c.Expect(needs).To(HaveLen(28))
	c.Expect(needs).To(ContainElement(And(HaveKeyWithValue("operator_name", "mtv"), HaveKeyWithValue("dependencies", ConsistOf("cnv")),
		HaveKeyWithValue("requirements", HaveKeyWithValue("worker", HaveKeyWithValue("quantitative", And(HaveKeyWithValue("cpu_cores", 1.0), HaveKeyWithValue("ram_mib", 1024.0))))))))
	c.Expect(needs).To(ContainElement(And(HaveKeyWithValue("operator_name", "cnv"),
		HaveKeyWithValue("requirements", HaveKeyWithValue("master", HaveKeyWithValue("qualitative", ContainElement(ContainSubstring("vmx"))))))))
}

func TestOperatorsThatCannotBeHad(t *testing.T) {
	with, without := newClient(t, withInstaller(t, operators.Table{}).User()), newClient(t, testhub.Start(t, testhub.Options{}).User())
	body := func(more string) string { return `{"name":"edge","pull_secret":"{\"auths\":{}}",` + more + `}` }
	const release, installer = `"openshift_version":"4.20.1",`, `"ignition_source":"openshift-install",`
	for name, tc := range map[string]struct {
		hub client
		asked,
		why string
	}{
		"a hub without the program":  {without, release + `"olm_operators":[{"name":"lvm"}]`, "lvm: operators are installed by the Ignition source openshift-install, and this hub is not set up for it"},
		"another source":             {with, release + `"olm_operators":[{"name":"lvm"}]`, "lvm: operators are installed by the Ignition source openshift-install, and the cluster's is files"},
		"a cluster without release":  {with, installer + `"olm_operators":[{"name":"lvm"}]`, "lvm: operators are installed into OpenShift, and the cluster has no release"},
		"a bundle of another source": {with, release + `"operator_bundles":[{"id":"virtualization"}]`, "bundle virtualization: operators are installed by"},
		"no such operator":           {with, release + installer + `"olm_operators":[{"name":"odd"}]`, `there is no operator \"odd\"`},
		"no such bundle":             {with, release + installer + `"operator_bundles":[{"id":"odd"}]`, `there is no bundle \"odd\"`},
		"properties":                 {with, release + installer + `"olm_operators":[{"name":"lso","properties":"{\"a\":1}"}]`, "operator lso has no properties"},
		"two that exclude":           {with, release + installer + `"olm_operators":[{"name":"lvm"},{"name":"odf"}]`, "operator lvm cannot be installed beside odf"},
		"single node":                {with, release + installer + `"control_plane_count":1,"olm_operators":[{"name":"odf"}]`, "OpenShift Data Foundation needs several hosts"},
		"architecture":               {with, release + installer + `"cpu_architecture":"arm64","olm_operators":[{"name":"odf"}]`, "the architecture is arm64"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.hub.do("POST", "/clusters", body(tc.asked), 400)).To(ContainSubstring(tc.why))
			g.Expect(tc.hub.do("GET", "/clusters", "", 200)).To(MatchJSON(`[]`), "nothing is stored")
		})
	}
	made := with.read("POST", "/clusters", body(release+installer+`"olm_operators":[{"name":"lvm"},{"name":"lvm"}]`), 201)
	path := "/clusters/" + made["id"].(string)
	with.do("PATCH", path, `{"olm_operators":[{"name":"odf"},{"name":"lvm"}]}`, 400)
	operatorsOf := func() []string {
		var c wire.Cluster
		with.Expect(jsonInto(with.do("GET", path, "", 200), &c)).To(Succeed())
		return besides(c)
	}
	with.Expect(operatorsOf()).To(Equal([]string{"lvm"}), "what is refused changes nothing")
	with.do("PATCH", path, `{"olm_operators":[{"name":"odf"}]}`, 201)
	with.Expect(operatorsOf()).To(Equal([]string{"lso", "odf"}))
	with.do("PATCH", path, `{"name":"other"}`, 201)
	with.Expect(operatorsOf()).To(Equal([]string{"lso", "odf"}), "a change of something else leaves them")
	with.do("PATCH", path, `{"olm_operators":[]}`, 201)
	with.Expect(operatorsOf()).To(BeEmpty())
}

// withDisks gives hosts a further disk each, of that many GB.
func (s *scene) withDisks(gb ...int64) {
	for i, size := range gb {
		if size > 0 {
			s.hosts[i].inventory.Disks = append(s.hosts[i].inventory.Disks, wire.Disk{ID: "data", Path: "/dev/vdz", Name: "vdz", DriveType: wire.DriveTypeSsd, SizeBytes: size * 1e9})
		}
	}
}

// TestWhatOperatorsNeed has a passing and a failing case for each kind of need: a failing
// one makes the host, or the cluster, insufficient.
func TestWhatOperatorsNeed(t *testing.T) {
	large := func(s *scene) {
		for _, h := range s.hosts {
			h.inventory.CPU.Count, h.inventory.Memory.PhysicalBytes, h.inventory.CPU.Flags = 32, 128<<30, []string{"vmx"}
			h.inventory.GPUs = nil
		}
	}
	hub := withInstaller(t, operators.Table{})
	for name, tc := range map[string]struct {
		operators []string
		prepare   func(*scene)
		id        string
		// onHost is what the first host fails with, onCluster the cluster; both empty: all passes.
		onHost, onCluster string
	}{
		"nothing": {nil, func(*scene) {}, "lso-requirements-satisfied", "", ""},
		"CPUs": {
			[]string{"mce"},
			func(s *scene) { s.hosts[0].inventory.CPU.Count = 7 }, "mce-requirements-satisfied",
			"The host has 7 CPUs, 8 are needed as master with multicluster engine", "",
		},
		"memory": {
			[]string{"mce"},
			func(s *scene) { s.hosts[0].inventory.Memory.PhysicalBytes = 31 << 30 }, "mce-requirements-satisfied",
			"32768 MiB are needed as master with multicluster engine", "",
		},
		"of all together":   {[]string{"mce", "osc"}, func(s *scene) { s.hosts[0].inventory.CPU.Count = 8 }, "has-cpu-cores-for-role", "The host has 8 CPUs, 9 are needed as master with its operators", ""},
		"enough":            {[]string{"mce", "osc"}, func(*scene) {}, "mce-requirements-satisfied", "", ""},
		"no virtualization": {[]string{"cnv"}, func(s *scene) { s.hosts[0].inventory.CPU.Flags = []string{"sse"} }, "cnv-requirements-satisfied", "neither vmx nor svm", ""},
		"virtualization":    {[]string{"cnv"}, func(*scene) {}, "cnv-requirements-satisfied", "", ""},
		"a disk each":       {[]string{"lvm"}, func(s *scene) { s.withDisks(0, 10, 10) }, "lvm-requirements-satisfied", "needs a disk beside the installation disk", ""},
		"disks":             {[]string{"lvm"}, func(s *scene) { s.withDisks(10, 10, 10) }, "lvm-requirements-satisfied", "", ""},
		"a removable disk": {[]string{"lvm"}, func(s *scene) {
			s.withDisks(10, 10, 10)
			s.hosts[0].inventory.Disks[len(s.hosts[0].inventory.Disks)-1].Removable = true
		}, "lvm-requirements-satisfied", "needs a disk beside", ""},
		"small disks": {
			[]string{"odf"},
			func(s *scene) { s.withDisks(24, 25, 25) }, "odf-requirements-satisfied", "",
			"needs 3 hosts with a disk of at least 25 GB beside the installation disk, and 2 have one",
		},
		"storage":         {[]string{"odf"}, func(s *scene) { s.withDisks(25, 25, 25) }, "odf-requirements-satisfied", "", ""},
		"each disk costs": {[]string{"odf"}, func(s *scene) { s.withDisks(25, 25, 25); s.hosts[0].inventory.CPU.Count = 11 }, "odf-requirements-satisfied", "The host has 11 CPUs, 12 are needed", ""},
		"no GPU":          {[]string{"nvidia-gpu"}, func(*scene) {}, "nvidia-gpu-requirements-satisfied", "", "needs a host with one of its GPUs"},
		"another's GPU": {
			[]string{"nvidia-gpu"},
			func(s *scene) { s.hosts[1].inventory.GPUs = []wire.Gpu{{VendorID: "1002"}} }, "nvidia-gpu-requirements-satisfied", "",
			"needs a host with one of its GPUs",
		},
		"GPU": {[]string{"nvidia-gpu"}, func(s *scene) { s.hosts[1].inventory.GPUs = []wire.Gpu{{VendorID: "0x10DE"}} }, "nvidia-gpu-requirements-satisfied", "", ""},
		"GPU with secure boot": {[]string{"nvidia-gpu"}, func(s *scene) {
			s.hosts[0].inventory.GPUs = []wire.Gpu{{VendorID: "10de"}}
			s.hosts[0].inventory.Boot = &wire.Boot{SecureBootState: wire.SecureBootStateEnabled}
		}, "nvidia-gpu-requirements-satisfied", "Secure boot is enabled", ""},
		"too few workers": {[]string{"openshift-ai"}, func(s *scene) { s.withDisks(25, 25, 25) }, "openshift-ai-requirements-satisfied", "", "needs 2 workers, and the cluster has 0"},
		"AI without GPU":  {[]string{"openshift-ai"}, func(s *scene) { s.withDisks(25, 25, 25) }, "openshift-ai-gpu-requirements-satisfied", "", "needs a GPU"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := threeHosts(t).ofInstaller(tc.operators...)
			large(s)
			tc.prepare(s)
			p := s.play(t, hub)
			host, results := p.host(t, 0)
			cluster, ofCluster := p.readCluster(t)
			if tc.onHost != "" {
				g.Expect(results[tc.id]).To(And(HaveField("Status", validations.Failure), HaveField("Message", ContainSubstring(tc.onHost))))
				g.Expect(host.Status).To(Equal(wire.HostStatusInsufficient), host.StatusInfo)
				return
			}
			if result, ok := results[tc.id]; ok {
				g.Expect(result.Status).To(Equal(validations.Success), result.Message)
			}
			g.Expect(host.Status).To(Equal(wire.HostStatusKnown), host.StatusInfo)
			if tc.onCluster != "" {
				g.Expect(ofCluster[tc.id]).To(And(HaveField("Status", validations.Failure), HaveField("Message", ContainSubstring(tc.onCluster))))
				g.Expect(cluster.Status).To(Equal(wire.ClusterStatusInsufficient), cluster.StatusInfo)
				return
			}
			g.Expect(ofCluster[tc.id].Status).To(Equal(validations.Success), ofCluster[tc.id].Message)
			g.Expect(cluster.Status).To(Equal(wire.ClusterStatusReady), cluster.StatusInfo)
		})
	}
}

// TestAWorkerTakesWhatTheControlPlaneCarried: what operators put on hosts follows from who else is there.
func TestAWorkerTakesWhatTheControlPlaneCarried(t *testing.T) {
	g := NewWithT(t)
	s := threeHosts(t).ofInstaller("lvm")
	s.withDisks(0, 10, 10)
	p := s.play(t, withInstaller(t, operators.Table{}))
	_, results := p.host(t, 0)
	g.Expect(results["lvm-requirements-satisfied"].Status).To(Equal(validations.Failure))
	path := "/infra-envs/" + p.hosts[1].InfraEnvID + "/hosts/" + p.hosts[1].HostID
	code, raw := p.user.Do(t, http.MethodPatch, path, wire.HostUpdateParams{HostRole: new("worker")}, nil)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	_, results = p.host(t, 0)
	g.Expect(results["lvm-requirements-satisfied"]).To(And(HaveField("Status", validations.Success), HaveField("Message", ContainSubstring("carries nothing"))))
}

func TestASitesOwnOperator(t *testing.T) {
	g := NewWithT(t)
	table, err := operators.Builtin().With([]byte("operators:\n- {name: fleet-agent, title: Fleet Agent, namespace: fleet, package: fleet-agent, minutes: 15, hosts: {roles: {master: {cpus: 60}}}}\n"))
	g.Expect(err).NotTo(HaveOccurred())
	hub := withInstaller(t, table)
	p := threeHosts(t).ofInstaller("fleet-agent").play(t, hub)
	host, results := p.host(t, 0)
	g.Expect(results["fleet-agent-requirements-satisfied"]).To(And(HaveField("Status", validations.Failure), HaveField("Message", ContainSubstring("64 are needed as master with Fleet Agent"))))
	g.Expect(host.Status).To(Equal(wire.HostStatusInsufficient))
	c, ofCluster := p.readCluster(t)
	g.Expect(ofCluster).To(HaveKey("fleet-agent-requirements-satisfied"))
	g.Expect(besides(c)).To(Equal([]string{"fleet-agent"}))
	hub.Stop()

	p.user = withInstaller(t, operators.Table{}, hub.Dir).User()
	code, raw := p.user.Do(t, http.MethodPatch, "/clusters/"+p.cluster, wire.V2ClusterUpdateParams{Tags: new("later")}, nil)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	_, ofCluster = p.readCluster(t)
	g.Expect(ofCluster["fleet-agent-requirements-satisfied"]).To(
		And(HaveField("Status", validations.Failure), HaveField("Message", ContainSubstring("does not offer operator fleet-agent any more"))),
		"the file has lost its row",
	)
}

// TestManifestsOfASitesRow: what a row brings is in the installation as the hub's own manifests are, and its operator is
// judged and followed as any other.
func TestManifestsOfASitesRow(t *testing.T) {
	g := NewWithT(t)
	table, err := operators.Builtin().With([]byte(`operators:
- name: fleet-agent
  title: Fleet Agent
  namespace: fleet
  package: fleet-agent
  catalog: site
  minutes: 15
  needs: [metallb]
  hosts: {roles: {master: {cpus: 1}}}
  manifests:
  - {apiVersion: v1, kind: Namespace, metadata: {name: fleet, labels: {site: edge}}}
  - {apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: site, namespace: openshift-marketplace}, spec: {sourceType: grpc, image: "registry.example/site:1"}}
  - {apiVersion: fleet.example/v1, kind: Fleet, metadata: {name: fleet, namespace: fleet}, spec: {mode: edge}}
`))
	g.Expect(err).NotTo(HaveOccurred())
	hub := withInstaller(t, table)
	s := threeHosts(t).ofInstaller("fleet-agent").done()
	p := s.play(t, hub)
	user, cluster := newClient(t, hub.User()), "/clusters/"+p.cluster
	_, results := p.host(t, 0)
	g.Expect(results["fleet-agent-requirements-satisfied"].Status).To(Equal(validations.Success))
	listed := user.do("GET", cluster+"/manifests?include_system_generated=true", "", 200)
	files := map[string]string{
		"50_operator_fleet_namespace.yaml": "site: edge", "50_operator_fleet_group.yaml": "targetNamespaces", "50_operator_fleet-agent_subscription.yaml": "source: site",
		"50_operator_fleet-agent_02_catalogsource.yaml": "registry.example/site:1", "50_operator_fleet-agent_03_fleet.yaml": "mode: edge", "50_operator_metallb_subscription.yaml": "metallb",
	}
	for name, text := range files {
		g.Expect(listed).To(ContainSubstring(`{"file_name":"` + name + `","folder":"openshift","manifest_source":"system"}`))
		g.Expect(user.do("GET", cluster+"/manifests/files?folder=openshift&file_name="+name, "", 200)).To(ContainSubstring(text), name)
	}
	g.Expect(p.order(t).Reason).To(BeEmpty())
	bootstrap := user.do("GET", cluster+"/downloads/files?file_name=bootstrap.ign", "", 200)
	for name := range files {
		g.Expect(bootstrap).To(ContainSubstring("/opt/openshift/openshift/" + name))
	}
	c, _ := p.readCluster(t)
	i := slices.IndexFunc(c.MonitoredOperators, func(o wire.MonitoredOperator) bool { return o.Name == "fleet-agent" })
	g.Expect(c.MonitoredOperators[i]).To(And(HaveField("Namespace", "fleet"), HaveField("SubscriptionName", "fleet-agent"), HaveField("TimeoutSeconds", int64(900))))
}

// TestOperatorsOfAnInstallation follows them from the choice into the installation, and to its end.
func TestOperatorsOfAnInstallation(t *testing.T) {
	g := NewWithT(t)
	hub := withInstaller(t, operators.Table{})
	s := threeHosts(t).ofInstaller("metallb").done()
	s.cluster.OperatorBundles = nil
	p := s.play(t, hub)
	user, cluster := newClient(t, hub.User()), "/clusters/"+p.cluster
	user.do("PATCH", cluster, `{"olm_operators":[{"name":"metallb"},{"name":"nmstate"}]}`, 201)
	c, _ := p.readCluster(t)
	g.Expect(besides(c)).To(Equal([]string{"metallb", "nmstate"}))
	g.Expect(c.FeatureUsage).To(And(ContainSubstring(`"METALLB"`), ContainSubstring(`"NMSTATE"`)))

	const file = "50_operator_metallb_subscription.yaml"
	g.Expect(user.do("GET", cluster+"/manifests", "", 200)).To(MatchJSON(`[]`), "users have added none")
	g.Expect(user.do("GET", cluster+"/manifests?include_system_generated=true", "", 200)).To(ContainSubstring(`{"file_name":"` + file + `","folder":"openshift","manifest_source":"system"}`))
	g.Expect(user.do("GET", cluster+"/manifests/files?folder=openshift&file_name="+file, "", 200)).To(ContainSubstring("kind: Subscription"))
	user.do("POST", cluster+"/manifests", `{"folder":"openshift","file_name":"50_operator_nmstate_subscription.yaml","content":"`+encoded("kind: Subscription\nown: true\n")+`"}`, 201)

	g.Expect(p.order(t).Reason).To(BeEmpty())
	bootstrap := user.do("GET", cluster+"/downloads/files?file_name=bootstrap.ign", "", 200)
	g.Expect(bootstrap).To(ContainSubstring("/opt/openshift/openshift/" + file))
	g.Expect(bootstrap).To(ContainSubstring(base64.StdEncoding.EncodeToString([]byte("kind: Subscription\nown: true\n"))), "a user's own takes the place of the hub's")
	g.Expect(strings.Count(bootstrap, "50_operator_nmstate_subscription.yaml")).To(Equal(1))
	user.do("PATCH", cluster, `{"olm_operators":[]}`, 409)

	g.Eventually(func() string { c, _ = p.readCluster(t); return c.Status }, "30s", "20ms").Should(Equal(wire.ClusterStatusInstalling), c.StatusInfo)
	token, err := hub.AgentToken(t.Context(), p.hosts[0].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	inside := newClient(t, hub.Agent(token))
	for n := range p.hosts {
		for _, stage := range []wire.HostStage{wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageDone} {
			hub.Agent(token).Progress(t, p.hosts[n], stage, "")
		}
	}
	report := func(name, status string) {
		inside.do("PUT", cluster+"/monitored-operators", `{"name":"`+name+`","status":"`+status+`","status_info":"as it says"}`, 200)
	}
	inside.do("POST", cluster+"/uploads/ingress-cert", `"`+strings.ReplaceAll(certificate, "\n", "\\n")+`"`, 201)
	for _, name := range []string{"console", "cvo", "metallb"} {
		report(name, "available")
	}
	status := func() string { c, _ = p.readCluster(t); return c.Status }
	g.Expect(status()).To(Equal(wire.ClusterStatusFinalizing), "nmstate has not come up yet")
	report("nmstate", "progressing")
	g.Expect(status()).To(Equal(wire.ClusterStatusFinalizing))
	report("nmstate", "failed")
	g.Expect(status()).To(Equal(wire.ClusterStatusInstalled))
	g.Expect(c.StatusInfo).To(And(ContainSubstring("degraded"), ContainSubstring("nmstate"), Not(ContainSubstring("metallb"))))
	i := slices.IndexFunc(c.MonitoredOperators, func(o wire.MonitoredOperator) bool { return o.Name == "nmstate" })
	g.Expect(c.MonitoredOperators[i]).To(And(HaveField("Status", wire.OperatorStatusFailed), HaveField("SubscriptionName", "kubernetes-nmstate-operator"), HaveField("TimeoutSeconds", int64(1800))))
}

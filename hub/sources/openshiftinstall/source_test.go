package openshiftinstall_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vincent-petithory/dataurl"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/openshiftinstall"
	"github.com/ironflow/ironflow/hub/wire"
)

// files are the texts of an Ignition's files by path.
func files(g *WithT, raw []byte) map[string]string {
	var config struct {
		Storage struct {
			Files []struct {
				Path     string
				Contents struct{ Source string }
			}
		}
	}
	g.Expect(json.Unmarshal(raw, &config)).To(Succeed())
	out := map[string]string{}
	for _, f := range config.Storage.Files {
		data, err := dataurl.DecodeString(f.Contents.Source)
		g.Expect(err).NotTo(HaveOccurred())
		out[f.Path] = string(data.Data)
	}
	return out
}

func TestAClusterIsMade(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	o := three()
	o.Manifests = []sources.Manifest{
		{Folder: "manifests", Name: "50-own.yaml", Content: []byte("kind: ConfigMap\n")},
		{Folder: "openshift", Name: "99_mine.yaml", Content: []byte("kind: MachineConfig\n")},
	}
	g.Expect(s.Lacks(t.Context(), o)).To(BeEmpty())
	g.Expect(s.Ending(o)).To(Equal(sources.EndsInside))
	made, err := s.Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(made.Hosts).To(HaveLen(4))
	g.Expect(string(made.Hosts["h0"])).To(ContainSubstring("api-int.edge.example.com:22623/config/master"), "the host that brings up the others is a master itself")
	g.Expect(string(made.Hosts["h3"])).To(ContainSubstring("/config/worker"))
	g.Expect(made.Files).To(And(HaveKey("bootstrap.ign"), HaveKey("master.ign"), HaveKey("worker.ign"), HaveKey("metadata.json"), HaveKey("install-config.yaml"), HaveLen(5)))
	g.Expect(made.Credentials).To(And(HaveKey("kubeconfig-noingress"), HaveKeyWithValue("kubeadmin-password", []byte("aaaaa-bbbbb-ccccc-ddddd")), HaveLen(2)))
	in := files(g, made.Files["bootstrap.ign"])
	g.Expect(in).To(HaveKeyWithValue("/opt/openshift/release-image", "registry.example/release@sha256:a"))
	g.Expect(in).To(HaveKeyWithValue("/opt/openshift/manifests/50-own.yaml", "kind: ConfigMap\n"))
	g.Expect(in).To(HaveKeyWithValue("/opt/openshift/openshift/99_mine.yaml", "kind: MachineConfig\n"))
	g.Expect(string(made.Files["install-config.yaml"])).To(And(ContainSubstring(`bootMACAddress: "52:54:00:00:00:01"`), ContainSubstring("name: host-3")))

	g.Expect(s.program.Runs()).To(Equal([]string{"create manifests", "create ignition-configs"}))
	g.Expect(s.lines()).To(ContainElement(`c1: level=info msg="Consuming Install Config from target directory"`))
	s.nothingLeft(g)
}

func TestAnArbiterHasAFileOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	o := order(wire.HostRoleMaster, wire.HostRoleMaster, wire.HostRoleArbiter)
	made, err := newScene(t).Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(made.Hosts["h2"])).To(ContainSubstring("/config/arbiter"))
}

func TestASingleNodeBringsItselfUp(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	o := order(wire.HostRoleMaster)
	o.Cluster.ControlPlaneCount = 1
	made, err := s.Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.program.Runs()).To(Equal([]string{"create manifests", "create single-node-ignition-config"}))
	g.Expect(files(g, made.Files["bootstrap.ign"])).To(HaveKey("/opt/openshift/release-image"))
	g.Expect(string(made.Hosts["h0"])).To(Equal(`{"ignition":{"version":"3.2.0"}}`), "the bootstrap makes the real one, and merges this into it")
	g.Expect(string(made.Files["install-config.yaml"])).To(ContainSubstring("installationDisk: /dev/disk/by-id/wwn-0"))

	join := &sources.Order{Cluster: o.Cluster, Hosts: []sources.Host{{ID: "w", Name: "late", Role: wire.HostRoleWorker, Joins: true}}, Earlier: made, Now: now}
	g.Expect(s.Lacks(t.Context(), join)).To(ConsistOf(HaveField("What", ContainSubstring("installed in place"))))
}

func TestTheProgramKnowsOnlyWhatIsNamed(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("IRONFLOW_SECRET_OF_THE_HUB", "x")
	s := newScene(t, func(o *openshiftinstall.Options) {
		o.Proxy = openshiftinstall.Proxy{HTTPS: "http://site-proxy:3128", No: "registry.example"}
	})
	_, err := s.Make(t.Context(), three())
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, line := range s.program.Environment() {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	g.Expect(names).To(ConsistOf("HOME", "TMPDIR", "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy",
		"PWD", "SHLVL", "_"), "the last three are the shell's own")
	g.Expect(s.program.Environment()).To(ContainElement(HavePrefix("HOME=" + s.state + "/run-")))
	g.Expect(s.program.Folder()).To(HavePrefix(s.state + "/run-"))
}

func TestARepeatedPreparationRunsNothing(t *testing.T) {
	first := func(t *testing.T) (*scene, *sources.Order, *sources.Made) {
		t.Helper()
		s, o := newScene(t), three()
		o.Manifests = []sources.Manifest{{Folder: "manifests", Name: "a.yaml", Content: []byte("a: 1\n")}, {Folder: "manifests", Name: "b.yaml", Content: []byte("b: 1\n")}}
		made, err := s.Make(t.Context(), o)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return s, o, made
	}
	for name, tc := range map[string]struct {
		change func(*scene, *sources.Order, *sources.Made)
		runs   int
	}{
		"nothing changed":      {func(*scene, *sources.Order, *sources.Made) {}, 2},
		"what was stored":      {func(_ *scene, o *sources.Order, m *sources.Made) { o.Earlier = m }, 2},
		"hosts with other IDs": {func(_ *scene, o *sources.Order, _ *sources.Made) { o.Hosts[3].ID = "other" }, 2},
		"manifests in another order": {func(_ *scene, o *sources.Order, _ *sources.Made) {
			o.Manifests[0], o.Manifests[1] = o.Manifests[1], o.Manifests[0]
		}, 2},
		"11 hours later":                         {func(_ *scene, o *sources.Order, _ *sources.Made) { o.Now = now.Add(11 * time.Hour) }, 2},
		"its certificates would end soon":        {func(_ *scene, o *sources.Order, m *sources.Made) { o.Now, o.Earlier = now.Add(12*time.Hour), m }, 4},
		"another cluster with the same settings": {func(_ *scene, o *sources.Order, m *sources.Made) { o.Cluster.ID, o.Earlier = "c2", m }, 4},
		"another release": {func(_ *scene, o *sources.Order, _ *sources.Made) {
			o.Cluster.OcpReleaseImage = "registry.example/release@sha256:b"
		}, 4},
		"another pull secret": {func(_ *scene, o *sources.Order, _ *sources.Made) {
			o.PullSecret = strings.ReplaceAll(o.PullSecret, "you@", "me@")
		}, 4},
		"another manifest": {func(_ *scene, o *sources.Order, _ *sources.Made) { o.Manifests[0].Content = []byte("a: 2\n") }, 4},
		"a manifest less":  {func(_ *scene, o *sources.Order, _ *sources.Made) { o.Manifests = o.Manifests[1:] }, 4},
		"another program":  {func(s *scene, _ *sources.Order, _ *sources.Made) { s.program.Change() }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, o, made := first(t)
			tc.change(s, o, made)
			again, err := s.Make(t.Context(), o)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.program.Runs()).To(HaveLen(tc.runs))
			g.Expect(again.Hosts).To(And(HaveLen(4), HaveKey(o.Hosts[3].ID)))
			same := string(again.Credentials["kubeconfig-noingress"]) == string(made.Credentials["kubeconfig-noingress"])
			g.Expect(same).To(Equal(tc.runs == 2))
		})
	}
}

func TestWhatWasStoredCountsForANewHub(t *testing.T) {
	g := NewWithT(t)
	s, o := newScene(t), three()
	made, err := s.Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(made)
	g.Expect(err).NotTo(HaveOccurred())
	o.Earlier = &sources.Made{}
	g.Expect(json.Unmarshal(raw, o.Earlier)).To(Succeed())
	restarted, err := openshiftinstall.New(openshiftinstall.Options{Program: s.program.Path, State: s.state})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = restarted.Close() }()
	again, err := restarted.Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(made))
	g.Expect(s.program.Runs()).To(HaveLen(2))
}

func TestAHostThatJoinsGetsItsRolesFile(t *testing.T) {
	g := NewWithT(t)
	s, o := newScene(t), three()
	made, err := s.Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	join := &sources.Order{Cluster: o.Cluster, Hosts: []sources.Host{{ID: "w", Name: "late", Role: wire.HostRoleWorker, Joins: true}}, Now: now.Add(300 * 24 * time.Hour)}
	g.Expect(s.Lacks(t.Context(), join)).To(ConsistOf(HaveField("What", ContainSubstring("no worker.ign"))))
	join.Earlier = made
	late, err := s.Make(t.Context(), join)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(late.Hosts).To(HaveLen(1))
	g.Expect(string(late.Hosts["w"])).To(ContainSubstring("/config/worker"))
	g.Expect(late.Credentials).To(Equal(made.Credentials))
	g.Expect(s.program.Runs()).To(HaveLen(2))
}

package rest_test

import (
	"archive/tar"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestReleasesForSeveralArchitectures: hosts of each of them fit such a cluster.
func TestReleasesForSeveralArchitectures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "releases.yaml")
	NewWithT(t).Expect(os.WriteFile(file, []byte(`[
		{"openshift_version":"4.20","version":"4.20.3","cpu_architecture":"x86_64","url":"registry.example/release:4.20.3-x86_64"},
		{"openshift_version":"4.21","version":"4.21.0","cpu_architecture":"multi","cpu_architectures":["x86_64","arm64"],
			"url":"registry.example/release@sha256:`+strings.Repeat("f", 64)+`"}]`), 0o600)).To(Succeed())
	plain := testhub.Start(t, testhub.Options{})
	listed := testhub.Start(t, testhub.Options{API: func(o *rest.Options) { o.Releases = &releases.File{Path: file} }})
	for name, tc := range map[string]struct {
		hub        *testhub.Hub
		body, want string
	}{
		"by its version":         {plain, `"openshift_version":"4.20.1-multi"`, "multi"},
		"by its image":           {plain, `"openshift_version":"4.20.1","ocp_release_image":"registry.example/release:4.20.1-multi","cpu_architecture":"x86_64"`, "multi"},
		"by the list":            {listed, `"openshift_version":"4.21"`, "multi"},
		"hosts of one are asked": {listed, `"openshift_version":"4.21","cpu_architecture":"arm64"`, "arm64"},
		"one for one":            {listed, `"openshift_version":"4.20"`, "x86_64"},
	} {
		t.Run(name, func(t *testing.T) {
			user := newClient(t, tc.hub.User())
			user.shows(user.do("POST", "/clusters", `{"name":"edge","pull_secret":"{\"auths\":{}}",`+tc.body+`}`, 201), `{"cpu_architecture":"`+tc.want+`"}`)
		})
	}
}

// TestPlatformNoneIsTheUsersNetwork: nothing is there that could manage another.
func TestPlatformNoneIsTheUsersNetwork(t *testing.T) {
	g := NewWithT(t)
	s := usersNetwork(t)
	s.cluster.UserManagedNetworking, s.cluster.Platform = nil, &wire.Platform{Type: wire.PlatformTypeNone}
	hub := testhub.Start(t, testhub.Options{})
	p := s.play(t, hub)
	c, _ := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusReady), c.StatusInfo)
	g.Expect(*c.UserManagedNetworking).To(BeTrue())

	user := newClient(t, hub.User())
	made := "/clusters/" + user.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}"}`, 201)["id"].(string)
	for _, change := range []struct{ body, want string }{
		{`{"platform":{"type":"none"}}`, `{"platform":{"type":"none"},"user_managed_networking":true}`},
		{`{"tags":"a"}`, `{"platform":{"type":"none"},"user_managed_networking":true}`},
		{`{"platform":{"type":"baremetal"}}`, `{"platform":{"type":"baremetal"},"user_managed_networking":false}`},
	} {
		user.shows(user.do("PATCH", made, change.body, 201), change.want)
		user.shows(user.do("GET", made, "", 200), change.want)
	}
}

func TestACancelledInstallationHasAnEnd(t *testing.T) {
	f := newFixture(t)
	user := newClient(t, f.User())
	cluster := "/clusters/" + f.cluster
	user.shows(user.do("GET", cluster, "", 200), `{"install_completed_at":"0001-01-01T00:00:00.000Z"}`)
	answer := user.read("POST", cluster+"/actions/cancel", "", 202)
	at, err := time.Parse(time.RFC3339, answer["install_completed_at"].(string))
	user.Expect(err).NotTo(HaveOccurred())
	started, err := time.Parse(time.RFC3339, answer["install_started_at"].(string))
	user.Expect(err).NotTo(HaveOccurred())
	user.Expect(at).To(BeTemporally(">=", started))
	user.shows(user.do("POST", cluster+"/actions/reset", "", 202), `{"install_completed_at":"0001-01-01T00:00:00.000Z"}`)
}

func TestRemovedClustersCanBeListed(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user, withRemoved := newClient(t, hub.User()), newClient(t, hub.User().With("get_unregistered_clusters", "true"))
	stays, goes := user.newCluster(), user.newCluster()
	was := user.read("GET", goes, "", 200)
	user.do("DELETE", goes, "", 204)
	ids := func(c client, query string) (out []string) {
		t.Helper()
		var all wire.ClusterList
		c.Expect(jsonInto(c.do("GET", "/clusters"+query, "", 200), &all)).To(Succeed())
		for _, one := range all {
			out = append(out, "/clusters/"+one.ID)
		}
		return out
	}
	user.Expect(ids(user, "")).To(Equal([]string{stays}))
	user.Expect(ids(newClient(t, hub.User().With("get_unregistered_clusters", "false")), "")).To(Equal([]string{stays}))
	user.Expect(ids(withRemoved, "")).To(Equal([]string{stays, goes}))
	user.Expect(ids(withRemoved, "?with_hosts=true")).To(Equal([]string{stays, goes}))
	user.do("GET", goes, "", 404)
	gone := withRemoved.read("GET", goes, "", 200)
	for _, member := range []string{"id", "name", "kind", "href", "openshift_version", "base_dns_domain", "created_at", "hosts", "platform"} {
		user.Expect(gone[member]).To(Equal(was[member]), member)
	}
	user.Expect(gone["deleted_at"]).To(BeAssignableToTypeOf(""))
	withRemoved.do("GET", "/clusters/"+uuid.NewString(), "", 404)
	newClient(t, hub.User().With("get_unregistered_clusters", "perhaps")).do("GET", "/clusters", "", 400)
}

func TestAClusterIsFoundByItsOwnID(t *testing.T) {
	user := newClient(t, testhub.Start(t, testhub.Options{}).User())
	own := uuid.NewString()
	user.newCluster()
	user.read("POST", "/clusters/import", `{"name":"one","api_vip_dnsname":"api.one.example","openshift_cluster_id":"`+own+`"}`, 201)
	user.read("POST", "/clusters/import", `{"name":"two","api_vip_dnsname":"api.two.example","openshift_cluster_id":"`+uuid.NewString()+`"}`, 201)
	var found wire.ClusterList
	user.Expect(jsonInto(user.do("GET", "/clusters?openshift_cluster_id="+own, "", 200), &found)).To(Succeed())
	user.Expect(found).To(ConsistOf(HaveField("Name", "one")))
	user.Expect(user.do("GET", "/clusters?openshift_cluster_id="+uuid.NewString(), "", 200)).To(MatchJSON(`[]`))
	user.do("GET", "/clusters?openshift_cluster_id=one", "", 400)
}

func TestAnIngressCertificateForNoCluster(t *testing.T) {
	nobody := newClient(t, testhub.Start(t, testhub.Options{NoAuth: true}).Agent(""))
	for _, body := range []string{`"no certificate"`, `"` + strings.ReplaceAll(certificate, "\n", `\n`) + `"`} {
		nobody.do("POST", "/clusters/"+uuid.NewString()+"/uploads/ingress-cert", body, http.StatusNotFound)
	}
}

// TestTheArchiveOfLogsSaysWhatTheHubKnows: whoever looks into it has no hub to ask.
func TestTheArchiveOfLogsSaysWhatTheHubKnows(t *testing.T) {
	f := newFixture(t)
	user := newClient(t, f.User())
	cluster := user.newCluster()
	user.do("POST", cluster+"/manifests", `{"folder":"openshift","file_name":"b.yaml","content":"`+encoded("kind: B\n")+`"}`, 201)
	user.do("POST", cluster+"/manifests", `{"file_name":"s.yaml","content":"`+encoded("kind: Secret\nstringData: {token: hunter2}\n")+`"}`, 201)
	read := func(path string) map[string]string {
		t.Helper()
		files := map[string]string{}
		archive := tar.NewReader(strings.NewReader(user.do("GET", path, "", 200)))
		for {
			member, err := archive.Next()
			if errors.Is(err, io.EOF) {
				return files
			}
			user.Expect(err).NotTo(HaveOccurred())
			content, err := io.ReadAll(archive)
			user.Expect(err).NotTo(HaveOccurred())
			files[member.Name] = string(content)
		}
	}
	files := read(cluster + "/logs")
	user.Expect(files).To(HaveLen(4))
	user.Expect(files["manifests/openshift/b.yaml"]).To(Equal("kind: B\n"))
	user.Expect(files["manifests/manifests/s.yaml"]).To(And(ContainSubstring("kind: Secret"), Not(ContainSubstring("hunter2"))))
	user.shows(files["metadata.json"], `{"name":"edge","base_dns_domain":"example"}`)
	var events wire.EventList
	user.Expect(jsonInto(files["events.json"], &events)).To(Succeed())
	user.Expect(events[0].Name).To(Equal("cluster_registration_succeeded"))
	user.Expect(files["metadata.json"]).NotTo(ContainSubstring("auths"), "no pull secret")

	var metadata wire.Cluster
	user.Expect(jsonInto(read("/clusters/" + f.cluster + "/logs?logs_type=all")["metadata.json"], &metadata)).To(Succeed())
	user.Expect(metadata.Hosts).To(ConsistOf(HaveField("ID", f.host.HostID)))
	user.do("GET", "/clusters/"+uuid.NewString()+"/logs", "", 404)
}

func TestComponentVersions(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{
		Images: instructions.Images{Installer: "registry.example/installer:1", Controller: "registry.example/controller:1"},
		Checks: service.Checks{AgentImage: "registry.example/agent:1"},
	})
	user := newClient(t, hub.User())
	user.shows(user.do("GET", "/component-versions", "", 200), `{"versions":{"assisted-installer":"registry.example/installer:1",
		"assisted-installer-controller":"registry.example/controller:1","discovery-agent":"registry.example/agent:1"}}`)
	bare := newClient(t, testhub.Start(t, testhub.Options{}).User()).read("GET", "/component-versions", "", 200)
	user.Expect(bare["versions"]).To(And(HaveKey("assisted-installer-service"), HaveKey("ironflow"), HaveLen(2)), "what nobody has named runs nowhere")
}

// TestStagesOfAHostThatJoins are known before it ends.
func TestStagesOfAHostThatJoins(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	p := joining(t).play(t, hub)
	want := []wire.HostStage{
		"Starting installation", "Installing", "Writing image to disk", "Waiting for control plane", "Rebooting", "Waiting for ignition", "Configuring", "Joined", "Done",
	}
	h, _ := p.host(t, 0)
	NewWithT(t).Expect(h.ProgressStages).To(Equal(want))
	p.joins(t)
	h, _ = p.host(t, 0)
	NewWithT(t).Expect(h.ProgressStages).To(Equal(want))
}

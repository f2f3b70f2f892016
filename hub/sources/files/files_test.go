package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/files"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/ignitioncheck"
)

const clusterID = "0ad6d3b0-1111-4222-8333-000000000001"

// folder is a source with files; CLUSTER/ stands for the cluster's own folder.
func folder(t *testing.T, content map[string]string) files.Source {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, strings.Replace(name, "CLUSTER", clusterID, 1))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return files.Source{Root: root}
}

// order is a cluster of one host of the role.
func order(role wire.HostRole, change func(*sources.Order)) *sources.Order {
	o := &sources.Order{
		Cluster: wire.Cluster{ID: clusterID, Name: "edge", BaseDNSDomain: "example", SSHPublicKey: "ssh-ed25519 AAAA a@b"},
		Hosts:   []sources.Host{{ID: "h", Name: "node-0", Role: role, Addresses: []string{"192.0.2.10", "2001:db8::10"}, MAC: "52:54:00:00:00:01"}},
	}
	if change != nil {
		change(o)
	}
	return o
}

func released(o *sources.Order) { o.Cluster.OpenshiftVersion = "4.20.1" }

func joins(o *sources.Order) { o.Hosts[0].Joins = true }

func pointed(o *sources.Order) {
	joins(o)
	o.Hosts[0].Endpoint = &sources.Endpoint{URL: "https://api.edge.example:22623/config/worker"}
}

func motd(text string) string {
	return `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,` + text + `"}}]}}`
}

func TestMake(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		order *sources.Order
		want  string
		err   string
	}{
		"nothing at all is a system that boots": {nil, order("master", nil), "ssh-ed25519 AAAA a@b", ""},
		"the role's file":                       {map[string]string{"worker.ign": motd("w"), "master.ign": "{}"}, order("worker", nil), "data:,w", ""},
		"the cluster's own comes first":         {map[string]string{"worker.ign": "not json", "CLUSTER/worker.ign": motd("own")}, order("worker", nil), "data:,own", ""},
		"what is of the host": {
			map[string]string{"worker.ign": motd("@{host.name}/@{host.address}/@{host.role}/@{cluster.name}.@{cluster.domain}")},
			order("worker", nil),
			"data:,node-0/192.0.2.10/worker/edge.example", "",
		},
		"a value in a data URL is escaped": {map[string]string{"worker.ign": motd("@{cluster.ssh_key}")}, order("worker", nil), "data:,ssh-ed25519%20AAAA%20a@b", ""},
		"a value in a text is escaped": {
			map[string]string{"worker.ign": `{"ignition":{"version":"3.2.0"},"systemd":{"units":[
				{"name":"a.service","contents":"# \"@{cluster.pull_secret}\" ${HOME} {{.Name}} @@{x}"}]}}`},
			order("worker", func(o *sources.Order) { o.PullSecret = `{"auths":{}}` }),
			`# \"{\"auths\":{}}\" ${HOME} {{.Name}} @{x}`, "",
		},
		"an unknown variable": {
			map[string]string{"worker.ign": "{\n  \"ignition\": {\"version\": \"@{host.nam}\"}\n}"},
			order("worker", nil), "",
			`worker.ign:2:28: there is no variable "host.nam"`,
		},
		"a variable without a value": {
			map[string]string{"CLUSTER/worker.ign": motd("@{cluster.api_vip}")},
			order("worker", nil), "",
			clusterID + "/worker.ign:1:101: variable cluster.api_vip has no value for host node-0",
		},
		"a variable without an end":                   {map[string]string{"worker.ign": motd("@{host.name")}, order("worker", nil), "", "without its }"},
		"a variable outside of texts":                 {map[string]string{"worker.ign": `{"a": @{host.name}}`}, order("worker", nil), "", "put it between quotes"},
		"a file that is no Ignition":                  {map[string]string{"worker.ign": "not json"}, order("worker", nil), "", "worker.ign: "},
		"a release needs its file":                    {nil, order("master", released), "", "there is no file master.ign"},
		"a host that joins is pointed to the cluster": {nil, order("worker", pointed), "https://api.edge.example:22623/config/worker", ""},
		"a role's file is before that":                {map[string]string{"worker.ign": motd("w")}, order("worker", pointed), "data:,w", ""},
		"a host that joins nobody":                    {nil, order("worker", joins), "", "ignition_endpoint.url"},
		"a role cannot leave the folder":              {map[string]string{"a": "b"}, order("../../../../../../etc/passwd", nil), "", "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made, err := folder(t, tc.files).Make(t.Context(), tc.order)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(made.Hosts["h"])).To(ContainSubstring(tc.want))
			ignitioncheck.Valid(t, made.Hosts["h"])
		})
	}
}

// TestSecretsAreNotInErrors: a person reads them on the timeline.
func TestSecretsAreNotInErrors(t *testing.T) {
	g := NewWithT(t)
	o := order("worker", func(o *sources.Order) { o.PullSecret = `hunter2` })
	_, err := folder(t, map[string]string{"worker.ign": motd("@{cluster.pull_secret} @{nothing}")}).Make(t.Context(), o)
	g.Expect(err).To(MatchError(And(ContainSubstring("nothing"), Not(ContainSubstring("hunter2")))))
	_, err = folder(t, map[string]string{"worker.ign": motd("$6$@{hunter2}")}).Make(t.Context(), order("worker", nil))
	g.Expect(err).To(MatchError(And(ContainSubstring("worker.ign:1:"), ContainSubstring("there is no such variable"), Not(ContainSubstring("hunter2")))))
}

// TestCredentialsAreOfTheClustersFolder: and who made them made a cluster that tells its end.
func TestCredentialsAreOfTheClustersFolder(t *testing.T) {
	g := NewWithT(t)
	all := map[string]string{"kubeconfig-noingress": "first", "kubeadmin-password": "hunter2", "metadata.json": "{}"}
	s, o := folder(t, all), order("master", nil)
	made, err := s.Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.Credentials).To(BeEmpty())
	g.Expect(made.Files).To(HaveKey("metadata.json"))
	g.Expect(s.Ending(o)).To(Equal(sources.EndsWithHosts))

	s = folder(t, map[string]string{"CLUSTER/kubeconfig-noingress": "own", "CLUSTER/kubeadmin-password": "s3cret"})
	made, err = s.Make(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.Credentials).To(And(HaveKeyWithValue("kubeconfig-noingress", []byte("own")), HaveKeyWithValue("kubeadmin-password", []byte("s3cret"))))
	g.Expect(s.Ending(o)).To(Equal(sources.EndsInside))
}

// TestLacks: all that is missing is said at once, each file once.
func TestLacks(t *testing.T) {
	g := NewWithT(t)
	o := order("master", released)
	o.Hosts[0].Bootstrap = true
	o.Hosts = append(o.Hosts, sources.Host{ID: "i", Name: "node-1", Role: "master"}, sources.Host{ID: "j", Name: "node-2", Role: "arbiter"})
	lacks := sources.Lacking(folder(t, nil).Lacks(t.Context(), o))
	g.Expect(lacks).To(HaveLen(3))
	g.Expect(lacks.Error()).To(And(ContainSubstring("master.ign"), ContainSubstring("bootstrap.ign"), ContainSubstring("arbiter.ign"), ContainSubstring("--hub-ignition-dir")))
	g.Expect(files.Source{}.Lacks(t.Context(), order("master", nil))).To(BeEmpty(), "a host without a cluster of a release needs no folder")
}

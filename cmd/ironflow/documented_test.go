package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	testmedia "github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/pages"
)

// asTyped is the program as a user calls it.
func asTyped(t *testing.T) pages.Program {
	return func(in string, args []string) (string, error) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		out := &spoken{stop: func() {}}
		if len(args) > 1 && args[1] == "serve" {
			out.stop = stop // it goes on until it is ended
		}
		c := newCommand()
		c.SetArgs(args)
		c.SetIn(bytes.NewBufferString(in))
		c.SetOut(out)
		c.SetErr(&bytes.Buffer{})
		err := c.ExecuteContext(ctx)
		return out.text.String(), err
	}
}

// spoken is the output of a command, and ends one that would go on once it has said something.
type spoken struct {
	text bytes.Buffer
	stop func()
}

func (s *spoken) Write(p []byte) (int, error) {
	defer s.stop()
	return s.text.Write(p)
}

// TestCommandsOfThePagesRun: what pages tell people to copy does what they say, in a folder that has the files which they name.
func TestCommandsOfThePagesRun(t *testing.T) {
	g := NewWithT(t)
	root, err := filepath.Abs("../..")
	g.Expect(err).NotTo(HaveOccurred())
	t.Chdir(t.TempDir())
	d := documented{WithT: g, t: t, root: root}
	onCluster := "cmd/ironflow.TestCommandsOfThePagesOnACluster"
	examples := []pages.Example{
		{Line: "check", By: onCluster},
		{Line: "crds", By: onCluster},
		{Line: "crds --apply", By: onCluster},
		{Line: "migrate --kubeconfig ~/.kube/config --ironic-endpoint https://ironic.example:6385", By: onCluster},
		{Line: "run --bmc --bmc-events-addr=:8092 --bmc-events-publish-url=https://ironflow.example:8092", By: "cmd/ironflow.TestEventSettings"},
		{Line: "agent-image wait-for bootstrap-complete --url http://192.0.2.10:8090", By: "test/hub/agentbased.TestThreeHostsInstallThemselves"},
		{Line: "agent-image wait-for install-complete --url http://192.0.2.10:8090 --kubeconfig kubeconfig --output json", By: "test/hub/agentbased.TestAPlainKubernetesWithoutABootstrapHost"},
	}
	for _, more := range [][]pages.Example{d.images(), d.media(), d.hub(), d.bmcs(), d.agentImages()} {
		examples = append(examples, more...)
	}
	pages.Run(t, root, "ironflow", examples, asTyped(t))
}

// TestCommandsOfThePagesOnACluster has those that ask a Kubernetes cluster and an Ironic.
func TestCommandsOfThePagesOnACluster(t *testing.T) {
	s := newStand(t)
	t.Setenv("KUBECONFIG", s.args["kubeconfig"])
	flags := ""
	for name, value := range s.args {
		flags += " --" + name + "=" + value
	}
	pages.RunExamples(t, "ironflow", []pages.Example{
		{Line: "check", More: flags, Want: "0 warnings, 0 errors"},
		{Line: "crds", Want: "baremetalhosts.metal3.io"},
		{Line: "crds --apply", Want: "baremetalhosts.metal3.io"},
		{
			Line: "migrate --kubeconfig ~/.kube/config --ironic-endpoint https://ironic.example:6385", Want: "ready",
			With: map[string]string{"~/.kube/config": s.args["kubeconfig"], "https://ironic.example:6385": s.url},
		},
	}, asTyped(t))
}

// documented makes what the commands of the pages name, in the folder in which they are called.
type documented struct {
	*WithT
	t    *testing.T
	root string
}

func (d documented) write(name, text string) {
	d.t.Helper()
	d.Expect(os.MkdirAll(filepath.Dir(name), 0o755)).To(Succeed())
	d.Expect(os.WriteFile(name, []byte(text), 0o600)).To(Succeed())
}

// images are the commands of docs/images.md; each goes on with what those before it have written.
func (d documented) images() []pages.Example {
	d.write("base.iso", string(coreosiso.Read(d.t, "2023-07.x86_64")))
	d.write("config.ign", `{"ignition":{"version":"3.2.0"}}`)
	d.write("eth0.nmconnection", "[connection]\nid=eth0\n")
	d.write("hosts/a.ign", `{"ignition":{"version":"3.2.0"}}`)
	d.write("hosts/a.yaml", "interfaces: [{name: eth0, ipv4: {enabled: true, dhcp: true}}]\n")
	initrd, err := embedarea.Content{Files: []cpio.Entry{{Name: "init", Mode: cpio.TypeSymlink | 0o777, Data: []byte("usr/bin/init")}}}.Archive()
	d.Expect(err).NotTo(HaveOccurred())
	d.write("network-boot.img", string(initrd))
	iso := func(iso, out string) map[string]string {
		return map[string]string{"ISO": iso, "OUT": out, "FILE": "config.ign", "KEYFILE": "eth0.nmconnection", "ARG": "a=1", "DIR": "."}
	}
	pxe := func(initrd, out string) map[string]string {
		return map[string]string{"INITRD": initrd, "OUT": out, "FILE": "config.ign", "KEYFILE": "eth0.nmconnection", "DIR": ".", "FLAGS": "--live-ignition config.ign"}
	}
	customize := iso("base.iso", "customized.iso")
	customize["FLAGS"] = "--live-ignition config.ign --dest-device /dev/sda"
	extract := iso("all.iso", "")
	extract["PATH"] = "images/ignition.img"
	folder := iso("base.iso", "")
	folder["DIR"] = "hosts"
	return []pages.Example{
		{Line: "image inspect ISO", With: iso("base.iso", ""), Want: "{"},
		{Line: "image embed --ignition FILE -o OUT ISO", With: iso("base.iso", "config.iso")},
		{Line: "image network embed --keyfile KEYFILE -o OUT ISO", With: iso("config.iso", "network.iso")},
		{Line: "image kargs set --append ARG -o OUT ISO", With: iso("network.iso", "all.iso")},
		{Line: "image show [--ignition] ISO", With: iso("all.iso", ""), Want: "ign"},
		{Line: "image kargs show ISO", With: iso("all.iso", ""), Want: " a=1\n"},
		{Line: "image kargs reset -o OUT ISO", With: iso("all.iso", "kargs.iso")},
		{Line: "image network extract [-C DIR] ISO", With: iso("all.iso", "")},
		{Line: "image network remove -o OUT ISO", With: iso("all.iso", "without.iso")},
		{Line: "image ignition remove -o OUT ISO", With: iso("all.iso", "without.iso")},
		{Line: "image extract [-C DIR] ISO [PATH...]", With: extract},
		{Line: "image minimal -o OUT ISO", With: iso("base.iso", "minimal.iso")},
		{Line: "image customize [FLAGS] -o OUT ISO", With: customize},
		{Line: "image reset -o OUT ISO", With: iso("all.iso", "reset.iso")},
		{Line: "image pxe customize [FLAGS] -o OUT INITRD", With: pxe("network-boot.img", "customized.img")},
		{Line: "image pxe ignition wrap --ignition FILE -o OUT", With: pxe("", "ignition.img")},
		{Line: "image pxe ignition unwrap INITRD", With: pxe("ignition.img", ""), Want: `"3.2.0"`},
		{Line: "image pxe network wrap --keyfile KEYFILE -o OUT", With: pxe("", "network.img")},
		{Line: "image pxe network unwrap [-C DIR] INITRD", With: pxe("network.img", "")},
		{Line: "image pxe show INITRD", With: pxe("network.img", ""), Want: "eth0.nmconnection"},
		{Line: "image serve --base ISO --hosts DIR", With: folder, More: "--listen 127.0.0.1:0", Want: "a http://127.0.0.1:"},
		{Line: "image network check [--base ISO] DIR", With: folder, Want: "1 translated"},
	}
}

// media are the commands for base images, whose folder and list come from the variables of a pod.
func (d documented) media() []pages.Example {
	content := coreosiso.Read(d.t, "2022-09")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	d.t.Cleanup(server.Close)
	sum := sha256.Sum256(content)
	digest, url := hex.EncodeToString(sum[:]), server.URL+"/live.x86_64.iso"
	d.write("list.yaml", "images:\n- {url: \""+url+"\", sha256: "+digest+"}\n")
	for name, value := range map[string]string{"DEPLOY_ISO": "", "IRONFLOW_BASE_IMAGE_LIST": "list.yaml", "IRONFLOW_DATA_DIR": "media"} {
		d.t.Setenv(name, value)
	}
	fetch := map[string]string{"URL": url, "SUM": digest, "https://mirror.site/live.x86_64.iso": url, "https://mirror.example/live.x86_64.iso": url}
	return []pages.Example{
		{Line: "media fetch [URL --sha256 SUM]", With: fetch, Want: "live.x86_64.iso: "},
		{Line: "media fetch https://mirror.site/live.x86_64.iso --sha256 SUM", With: fetch, Want: "is there already"},
		{Line: "media fetch https://mirror.example/live.x86_64.iso --sha256 SUM", With: fetch, Want: "is there already"},
		{Line: "media list", Want: digest},
		{Line: "media check"},
	}
}

// hub are the commands of a hub's data folder, which has a cluster.
func (d documented) hub() []pages.Example {
	const cluster = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
	d.Expect(os.Mkdir("data", 0o700)).To(Succeed())
	token, err := hubFolder(d.WithT, d.t, "data", cluster).ClusterToken(auth.ClusterClaims{ClusterID: cluster})
	d.Expect(err).NotTo(HaveOccurred())
	file := map[string]string{"FILE": "backup.tar.gz", "/var/lib/ironflow/backup.tar.gz": "backup.tar.gz"}
	return []pages.Example{
		{Line: "hub cluster-token ID --generation GENERATION --data-dir DIR", With: map[string]string{"ID": cluster, "GENERATION": "1", "DIR": "data"}, Want: token + "\n"},
		{Line: "hub cluster-token ID --data-dir DIR", With: map[string]string{"ID": cluster, "DIR": "data"}, Want: token + "\n"},
		{Line: "hub backup /var/lib/ironflow/backup.tar.gz", With: file, More: "--data-dir data", Want: "copied 0 infra-envs, 1 clusters"},
		{Line: "hub backup FILE", With: file, More: "--data-dir data", Want: "copied 0 infra-envs, 1 clusters"},
		{Line: "hub restore FILE", With: file, More: "--data-dir restored", Want: "put back 0 infra-envs, 1 clusters"},
	}
}

// hubFolder makes a folder that of a stopped hub with one cluster, and returns its key.
func hubFolder(g *WithT, t *testing.T, dir, cluster string) auth.Key {
	t.Helper()
	key, err := auth.LoadKey(filepath.Join(dir, configured.KeyFile))
	g.Expect(err).NotTo(HaveOccurred())
	records, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(records.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{{API: wire.Cluster{ID: cluster}}}})).To(Succeed())
	g.Expect(records.Close()).To(Succeed())
	return key
}

// bmcs are the commands of a simulated BMC, and of a list with it.
func (d documented) bmcs() []pages.Example {
	bmc := simulator.New(simulator.Options{Username: "root", Password: "pass-word-7"})
	d.t.Cleanup(bmc.Close)
	d.Expect(bmc.AddSystem(simulator.System{ID: "1", Power: simulator.On, Manufacturer: "Dell Inc.", Model: "PowerEdge R750"})).To(Succeed())
	server := httptest.NewTLSServer(bmc)
	d.t.Cleanup(server.Close)
	d.t.Setenv("IRONFLOW_BMC_PASSWORD", "pass-word-7")
	d.write("bmcs.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	d.write("racks.txt", "# the first rack\n"+server.URL+"\n")
	address := map[string]string{"192.0.2.10": server.URL}
	const fast = "--rate 100000"
	return []pages.Example{
		{Line: "bmc probe --username root --insecure 192.0.2.10", With: address, More: fast, Want: "PowerEdge R750"},
		{Line: "bmc probe --username root --ca-file bmcs.pem --file racks.txt", More: fast, Want: "PowerEdge R750"},
		{Line: "bmc probe --username root --insecure 192.0.2.10 --output json", With: address, More: fast, Want: "PowerEdge R750"},
	}
}

// agentImages are the commands that make an image out of a folder.
func (d documented) agentImages() []pages.Example {
	inputs := filepath.Join(d.root, "agent", "agentbased", "image", "testdata")
	d.Expect(os.CopyFS("edge", os.DirFS(filepath.Join(inputs, "configs")))).To(Succeed())
	d.Expect(os.CopyFS("more", os.DirFS(filepath.Join(inputs, "nodes")))).To(Succeed())
	d.Expect(testmedia.WriteFile("fedora-coreos.iso", testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-step"} {
		d.write(filepath.Join("programs", "x86_64", name), name)
	}
	const create, programs = "agent-image create --dir edge --base-image fedora-coreos.iso --release-image registry.example/ocp-release:4.19.3-x86_64", "--host-programs programs"
	return []pages.Example{
		{Line: create + " --dry-run", More: programs, Want: "registry.example/ocp-release:4.19.3-x86_64"},
		{Line: create, More: programs, Want: "agent-image wait-for"},
		{Line: "agent-image create --workflow addnodes --dir more --base-image fedora-coreos.iso --dry-run", More: programs, Want: "workers that join"},
	}
}

package main

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/registry"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/controllers/selfcheck"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/ironic/urlcheck"
	"github.com/ironflow/ironflow/test/hub/realregistry"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/media"
)

// stand is a site that is in order, on a real API server: what `ironflow check` is told of it.
type stand struct {
	*fleet
	dir  string
	args map[string]string
	// authority is that of its registry, in PEM.
	authority []byte
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{fleet: newFleet(t), dir: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == names.AskedPath {
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(server.Close)
	s.Expect(os.MkdirAll(filepath.Join(s.dir, "images"), 0o755)).To(Succeed())
	s.Expect(media.WriteFile(filepath.Join(s.dir, "images", "live.x86_64.iso"), media.Options{RootfsBytes: 1 << 20})).To(Succeed())
	s.Expect(os.MkdirAll(filepath.Join(s.dir, "data"), 0o700)).To(Succeed())
	s.args = map[string]string{
		"kubeconfig": s.kubeconfig(), "ironic-endpoint": s.url, "base-image": filepath.Join(s.dir, "images"), "data-dir": filepath.Join(s.dir, "data"),
		"hub-publish-url": server.URL, "images-publish-url": server.URL, "ca-bundle": filepath.Join(s.dir, "registry.pem"),
		"skip": "addresses", // the test's server is on this machine
	}
	at := s.registry() + "/ironic-python-agent"
	s.args["ironic-agent-image"] = realregistry.Push(t, at, realregistry.Image(t, map[string]string{"etc/os-release": "x"}), s.authority, authn.Anonymous)
	s.Expect(os.WriteFile(s.args["ca-bundle"], s.authority, 0o600)).To(Succeed())
	return s
}

// registry is one to which nobody has pushed an image yet.
func (s *stand) registry() string {
	server := httptest.NewTLSServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	s.t.Cleanup(server.Close)
	s.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return strings.TrimPrefix(server.URL, "https://")
}

// check runs the command, and returns what it prints and its exit code.
func (s *stand) check(change map[string]string) (string, int) {
	s.t.Helper()
	var args []string
	for _, from := range []map[string]string{s.args, change} {
		for flag, value := range from {
			args = append(args, "--"+flag+"="+value)
		}
	}
	var out strings.Builder
	c := newCommand()
	c.SetArgs(append([]string{"check"}, args...))
	c.SetOut(&out)
	err := c.ExecuteContext(s.t.Context())
	if v, ok := errors.AsType[verdictError](err); ok {
		return out.String(), v.ExitCode()
	}
	s.Expect(err).NotTo(HaveOccurred())
	return out.String(), 0
}

// planted is a fault of a site, and the line by which a person is told.
type planted struct {
	plant func(*stand) map[string]string
	want  string
	// cause and next are what the line says of the cause, and what to do, where there are several.
	cause, next string
}

func change(flag, value string) func(*stand) map[string]string {
	return func(*stand) map[string]string { return map[string]string{flag: value} }
}

var plants = map[string]planted{
	"no cluster":          {plant: change("kubeconfig", "/nowhere/kubeconfig"), want: "error    kubernetes"},
	"no rights":           {plant: (*stand).stranger, want: "error    rights"},
	"no Ironic":           {change("ironic-endpoint", "http://127.0.0.1:1"), "error    ironic", "connection refused", "nobody listens there"},
	"a wrong password":    {(*stand).strictIronic, "error    ironic", "HTTP 401", "--ironic-auth-root"},
	"another authority":   {(*stand).otherAuthority, "error    ironic", "unknown authority", "the file --ironic-ca"},
	"no deploy steps":     {plant: (*stand).imagesOnly, want: "error    ironic        default (http://127.0.0.1:"},
	"an empty folder":     {plant: (*stand).emptyFolder, want: "error    base images   there is none in"},
	"half a base image":   {plant: (*stand).halfAnImage, want: "error    base images   broken.iso cannot be used"},
	"an agent image":      {plant: change("ironic-agent-image", "ipa:latest"), want: "error    agent image   \"ipa:latest\" is no full image reference"},
	"no agent image":      {plant: (*stand).emptyRegistry, want: "error    agent image   the image of ironic-python-agent 127.0.0.1:"},
	"no way for Ironic":   {plant: (*stand).farIronic, want: "error    outside       default (http://127.0.0.1:"},
	"another server":      {plant: (*stand).otherServer, want: "answers at --images-publish-url http://127.0.0.1:"},
	"nobody answers":      {plant: change("images-publish-url", "http://127.0.0.1:1"), want: "error    reachable     --images-publish-url http://127.0.0.1:1"},
	"an old certificate":  {plant: (*stand).oldCertificate, want: "error    certificates  the certificate of metrics"},
	"no data folder":      {plant: change("data-dir", "/nowhere"), want: "error    data folder   /nowhere"},
	"the cluster's names": {plant: change("hub-publish-url", "https://ironflow.ironflow-system.svc:8090"), want: "error    settings      --hub-publish-url"},
	"baremetal-operator":  {plant: (*stand).otherOperator, want: "error    other operator default/bmo-0 holds the lease"},
	"an old definition":   {plant: (*stand).oldDefinition, want: "warning  definitions   agents.agent-install.openshift.io is older than Ironflow's, it lacks spec.role"},
	"a lost definition":   {plant: (*stand).loseDefinition, want: "error    definitions   the API server does not serve ClusterImageSet of hive.openshift.io/v1"},
}

// TestCheck runs `ironflow check` on a real API server: all is in order, and then one fault after the other.
func TestCheck(t *testing.T) {
	s := newStand(t)
	out, code := s.check(nil)
	s.Expect(code).To(BeZero(), out)
	s.Expect(out).To(And(ContainSubstring("0 warnings, 0 errors"), MatchRegexp(`agent image   127.0.0.1:\d+/ironic-python-agent@sha256:[0-9a-f]+ \(its registry has it\)`)))
	s.Expect(out).To(MatchRegexp(`(?m)^ok       outside       default \(http://127\.0\.0\.1:\d+/v1/\) reaches --images-publish-url http://127`))
	s.Expect(s.sim.Nodes()).NotTo(ContainElement(HaveField("Name", urlcheck.NodeName)), "the node by which Ironic was asked is gone")
	s.Expect(s.writes()).To(ContainElement("create selfsubjectrulesreviews/ "), "all rights are asked for at once")
	s.Expect(s.writes()).NotTo(ContainElement(HavePrefix("create selfsubjectaccessreviews/")))
	last := []string{"an old definition", "baremetal-operator", "a lost definition"} // they change the cluster
	for name, p := range plants {
		if !slices.Contains(last, name) {
			s.faulty(t, name, p)
		}
	}
	for _, name := range last {
		s.faulty(t, name, plants[name])
	}
}

func (s *stand) faulty(t *testing.T, name string, p planted) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		g := NewWithT(t)
		out, code := s.check(p.plant(s))
		if strings.HasPrefix(p.want, "warning") {
			g.Expect(code).To(Equal(selfcheck.ExitWarnings), out)
		} else {
			g.Expect(code).To(Equal(selfcheck.ExitErrors), out)
		}
		g.Expect(out).To(And(ContainSubstring(p.want), ContainSubstring("next: "), ContainSubstring(p.cause), ContainSubstring(p.next)))
	})
}

// TestKindsOfTheSchemeAreTheDefinitions: what the program asks for is what it comes with.
func TestKindsOfTheSchemeAreTheDefinitions(t *testing.T) {
	g := NewWithT(t)
	definitions, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	var want []schema.GroupVersionKind
	for _, d := range definitions {
		want = append(want, schema.GroupVersionKind{Group: d.Spec.Group, Version: d.Spec.Versions[0].Name, Kind: d.Spec.Names.Kind})
	}
	scheme, err := parts.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(selfcheck.Wanted(scheme)).To(ConsistOf(want))
}

// TestCheckRefusesQuestions that mean nothing.
func TestCheckRefusesQuestions(t *testing.T) {
	for want, args := range map[string][]string{
		"neither text nor json":      {"check", "-o", "yaml"},
		`there is no check "nosuch"`: {"check", "--skip", "nosuch"},
	} {
		c := newCommand()
		c.SetArgs(args)
		NewWithT(t).Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring(want)))
	}
}

// stranger is a user without any right.
func (s *stand) stranger() map[string]string {
	access, err := s.plane.ConfigFor("stranger", "system:authenticated")
	s.Expect(err).NotTo(HaveOccurred())
	return map[string]string{"kubeconfig": writeKubeconfig(s.WithT, s.t.TempDir(), access)}
}

func (s *stand) emptyRegistry() map[string]string {
	return map[string]string{"ironic-agent-image": s.registry() + "/ironic-python-agent:v1"}
}

// imagesOnly is an Ironic whose operator left custom-agent out.
func (s *stand) imagesOnly() map[string]string {
	sim := simulator.New(simulator.Options{DeployInterfaces: []string{"direct"}})
	s.t.Cleanup(sim.Close)
	server := httptest.NewServer(sim)
	s.t.Cleanup(server.Close)
	return map[string]string{"ironic-endpoint": server.URL}
}

// strictIronic is one that does not know our password.
func (s *stand) strictIronic() map[string]string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Incorrect username or password", http.StatusUnauthorized)
	}))
	s.t.Cleanup(server.Close)
	return map[string]string{"ironic-endpoint": server.URL}
}

// otherAuthority is that of an Ironic's certificate, and nobody has told us.
func (s *stand) otherAuthority() map[string]string {
	server := httptest.NewUnstartedServer(s.sim)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // we hang up
	server.StartTLS()
	s.t.Cleanup(server.Close)
	return map[string]string{"ironic-endpoint": server.URL}
}

// farIronic is one that does not reach us.
func (s *stand) farIronic() map[string]string {
	sim := simulator.New(simulator.Options{Behave: func(simulator.Operation) simulator.Outcome {
		return simulator.Outcome{Error: "Validation of image href x failed, reason: [Errno 113] No route to host"}
	}})
	s.t.Cleanup(sim.Close)
	server := httptest.NewServer(sim)
	s.t.Cleanup(server.Close)
	return map[string]string{"ironic-endpoint": server.URL}
}

// otherServer is one that answers all that is asked.
func (s *stand) otherServer() map[string]string {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.t.Cleanup(server.Close)
	return map[string]string{"images-publish-url": server.URL}
}

func (s *stand) emptyFolder() map[string]string {
	return map[string]string{"base-image": s.t.TempDir()}
}

func (s *stand) halfAnImage() map[string]string {
	dir := s.t.TempDir()
	s.Expect(os.WriteFile(filepath.Join(dir, "broken.iso"), make([]byte, 4096), 0o600)).To(Succeed())
	return map[string]string{"base-image": dir}
}

func (s *stand) oldCertificate() map[string]string {
	dir := s.t.TempDir()
	_, err := pki.Ensure(dir, []string{"localhost"}, time.Now().AddDate(-2, 0, 0))
	s.Expect(err).NotTo(HaveOccurred())
	return map[string]string{"metrics-cert-dir": dir}
}

func (s *stand) otherOperator() map[string]string {
	holder, seconds, now := "bmo-0", int32(3600), metav1.NowMicro()
	s.Expect(s.kube.Create(s.t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: names.OperatorLease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
	})).To(Succeed())
	return nil
}

// oldDefinition is one that helm has left as it was; it is read by who has the rights of the program and no others.
func (s *stand) oldDefinition() map[string]string {
	kube, err := parts.ClientFor(s.plane.Config())
	s.Expect(err).NotTo(HaveOccurred())
	old := &apiextensionsv1.CustomResourceDefinition{}
	s.Expect(kube.Get(s.t.Context(), client.ObjectKey{Name: "agents.agent-install.openshift.io"}, old)).To(Succeed())
	delete(old.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "role")
	s.Expect(kube.Update(s.t.Context(), old)).To(Succeed())
	return nil
}

func (s *stand) loseDefinition() map[string]string {
	kube, err := parts.ClientFor(s.plane.Config())
	s.Expect(err).NotTo(HaveOccurred())
	lost := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "clusterimagesets.hive.openshift.io"}}
	s.Expect(kube.Delete(s.t.Context(), lost)).To(Succeed())
	s.Eventually(func() string { out, _ := s.check(nil); return out }, patience, time.Second).Should(ContainSubstring("does not serve"))
	return nil
}

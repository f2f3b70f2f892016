package selfcheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/selfcheck"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/urlcheck"
)

// world is what is around Ironflow, in order unless a case breaks it.
type world struct {
	*WithT
	t *testing.T

	// What the API server says: its version, how far its clock is behind ours, rights that it
	// refuses and definitions that it has.
	minor       string
	behind      time.Duration
	refused     map[string]bool
	definitions []*apiextensionsv1.CustomResourceDefinition
	unread      bool // nobody may read definitions
	lease       *coordinationv1.Lease
	away        bool

	ironics   []selfcheck.Ironic
	base      selfcheck.BaseImages
	files     []selfcheck.CertificateFile
	data      string
	agent     string
	pullable  selfcheck.Pullable
	published []selfcheck.Published
	outside   urlcheck.Answer
	unasked   error
	features  selfcheck.Features
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		WithT: NewWithT(t), t: t, minor: "34+", refused: map[string]bool{}, data: t.TempDir(), agent: "registry.example/ironic-python-agent:v1",
		features: selfcheck.Features{Hub: true, BMCs: true, Claims: true},
	}
	var err error
	w.definitions, err = config.CRDs()
	w.Expect(err).NotTo(HaveOccurred())
	w.ironics = []selfcheck.Ironic{site{}}
	w.base = selfcheck.BaseImages{Place: "/images", Usable: []string{"x86_64 42.1"}}
	w.files = []selfcheck.CertificateFile{w.certificate(time.Now())}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	w.published = []selfcheck.Published{{Flag: "hub-publish-url", Whom: "machines reach the hub", URL: server.URL}}
	w.outside.Verdict = urlcheck.Reached
	return w
}

// certificate is one that was made at that time, for a year.
func (w *world) certificate(at time.Time) selfcheck.CertificateFile {
	files, err := pki.Ensure(w.t.TempDir(), []string{"localhost"}, at)
	w.Expect(err).NotTo(HaveOccurred())
	return selfcheck.CertificateFile{What: "the hub's certificate", Cert: files.Cert, Key: files.Key}
}

// ServeHTTP is the API server.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Date", time.Now().Add(-w.behind).UTC().Format(http.TimeFormat))
	out.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var answer any
	switch {
	case r.URL.Path == "/version":
		answer = map[string]string{"major": "1", "minor": w.minor, "gitVersion": "v1." + w.minor}
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		review := &authorizationv1.SelfSubjectAccessReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		a := review.Spec.ResourceAttributes
		review.Status.Allowed = !w.refused[a.Verb+" "+a.Resource]
		answer = review
	case len(parts) == 3 && parts[0] == "apis":
		list := &metav1.APIResourceList{GroupVersion: parts[1] + "/" + parts[2]}
		for _, d := range w.definitions {
			if d.Spec.Group == parts[1] && d.Spec.Versions[0].Name == parts[2] {
				list.APIResources = append(list.APIResources, metav1.APIResource{Name: d.Spec.Names.Plural, Kind: d.Spec.Names.Kind})
			}
		}
		answer = list
	default:
		http.NotFound(out, r)
		return
	}
	_ = json.NewEncoder(out).Encode(answer) // the reader may have gone
}

// run asks all checks.
func (w *world) run() selfcheck.Report {
	w.t.Helper()
	server := httptest.NewServer(w)
	defer server.Close()
	access := &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}}
	if w.away {
		access.Host = "http://127.0.0.1:1"
	}
	scheme := runtime.NewScheme()
	w.Expect(errors.Join(coordinationv1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))).To(Succeed())
	var objects []client.Object
	for _, d := range w.definitions {
		objects = append(objects, d)
	}
	if w.lease != nil {
		objects = append(objects, w.lease)
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if _, is := into.(*apiextensionsv1.CustomResourceDefinition); is && w.unread {
				return apierrors.NewForbidden(schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}, key.Name, nil)
			}
			return c.Get(ctx, key, into, options...)
		},
	}).Build()
	rules, err := config.Rules()
	w.Expect(err).NotTo(HaveOccurred())
	all, err := config.CRDs()
	w.Expect(err).NotTo(HaveOccurred())
	return selfcheck.Run(w.t.Context(), append(selfcheck.Kubernetes(access, time.Now),
		selfcheck.Rights(access, w.features.Needed(rules), nil), selfcheck.Kinds(access, reader, kindsOf(all), w.features), selfcheck.OtherOperator(reader, time.Now),
		selfcheck.Ironics(w.ironics), selfcheck.Media(func(context.Context) (selfcheck.BaseImages, error) { return w.base, nil }),
		selfcheck.Certificates(w.files, time.Now), selfcheck.DataFolder(w.data), selfcheck.AgentImage([]string{w.agent}, w.pullable), selfcheck.Answers(w.published),
		selfcheck.Outside([]selfcheck.AskedIronic{{Who: "site-a", Ask: w.look}}, []selfcheck.Published{
			{Flag: "images-publish-url", Whom: "BMCs reach live images", URL: "http://192.0.2.1:8080", ByIronic: true},
		}),
	))
}

// look is what Ironic says of a published address.
func (w *world) look(context.Context, []string) ([]urlcheck.Answer, error) {
	if w.outside.Verdict == "" {
		return nil, w.unasked
	}
	return []urlcheck.Answer{w.outside}, w.unasked
}

// kindsOf are the kinds of definitions.
func kindsOf(definitions []*apiextensionsv1.CustomResourceDefinition) (kinds []schema.GroupVersionKind) {
	for _, d := range definitions {
		kinds = append(kinds, schema.GroupVersionKind{Group: d.Spec.Group, Version: d.Spec.Versions[0].Name, Kind: d.Spec.Names.Kind})
	}
	return kinds
}

// site is an Ironic that answers, unless it has an error.
type site struct {
	err error
	// lacks is a deploy interface that is not enabled.
	lacks string
}

func (site) Name() string                  { return "site-a" }
func (site) URL() string                   { return "https://ironic.example:6385/v1/" }
func (site) APIVersion() string            { return "1.110" }
func (s site) Ready(context.Context) error { return s.err }

func (s site) Drivers() []ironic.Driver {
	enabled := slices.DeleteFunc([]string{"direct", "custom-agent", "ramdisk"}, func(name string) bool { return name == s.lacks })
	return []ironic.Driver{{Name: "fake-hardware", Deploy: []string{"fake"}}, {Name: "ipmi", Deploy: enabled}, {Name: "redfish", Deploy: enabled}, {Name: "silent"}}
}

func TestAllIsInOrder(t *testing.T) {
	w := newWorld(t)
	report := w.run()
	w.Expect(report.Worst()).To(Equal(selfcheck.OK), "%v", report)
	w.Expect(report.ExitCode()).To(Equal(selfcheck.ExitOK))
	var out strings.Builder
	w.Expect(report.Text(&out)).To(Succeed())
	w.Expect(out.String()).To(And(
		ContainSubstring("site-a (https://ironic.example:6385/v1/) answers, API 1.110, with fake-hardware, ipmi, redfish, silent"), ContainSubstring("x86_64 42.1 in /images"),
		ContainSubstring("site-a reaches --images-publish-url http://192.0.2.1:8080"), HaveSuffix("12 in order, 0 warnings, 0 errors\n"),
	))
}

// fault is one thing that is wrong, and how a person is told.
type fault struct {
	plant func(*world)
	check string
	level selfcheck.Level
	text  string
	next  string
}

var faults = map[string]fault{
	"the API server is away":        {func(w *world) { w.away = true }, "kubernetes", selfcheck.Error, "the API server at http://127.0.0.1:1 does not answer", "KUBECONFIG"},
	"an API server that is too old": {func(w *world) { w.minor = "29" }, "kubernetes", selfcheck.Error, "1.30 is needed", "upgrade the cluster"},
	"a clock that is fast":          {func(w *world) { w.behind = time.Hour }, "clock", selfcheck.Error, "this clock is 1h0m", "time server"},
	"a clock that is a little slow": {func(w *world) { w.behind = -30 * time.Second }, "clock", selfcheck.Warning, "behind the API server's", "time server"},
	"a right that is missing":       {func(w *world) { w.refused["patch baremetalhosts"] = true }, "rights", selfcheck.Error, "patch baremetalhosts.metal3.io", "config/rbac"},
	"a definition that is missing": {
		func(w *world) { w.lose("baremetalhosts.metal3.io") }, "definitions", selfcheck.Error, "does not serve BareMetalHost of metal3.io/v1alpha1",
		"ironflow crds --apply",
	},
	"a definition that is older": {
		func(w *world) { w.age("baremetalhosts.metal3.io", "status") }, "definitions", selfcheck.Warning,
		"baremetalhosts.metal3.io is older than Ironflow's, it lacks status", "ironflow crds --apply",
	},
	"a definition of the hub that is older": {
		func(w *world) { w.age("agents.agent-install.openshift.io", "status") }, "definitions", selfcheck.Warning,
		"agents.agent-install.openshift.io is older than Ironflow's, it lacks status", "ironflow crds --apply",
	},
	"definitions that nobody may read": {
		func(w *world) { w.unread = true }, "definitions", selfcheck.Warning,
		"not compared with Ironflow's, which may be newer: no right to read", "config/rbac",
	},
	"baremetal-operator that runs": {func(w *world) { w.lease = lease() }, "other operator", selfcheck.Error, "metal3/bmo-0 holds the lease of baremetal-operator", "docs/migrate.md"},
	"an Ironic that is away":       {func(w *world) { w.ironics = append(w.ironics, site{err: errors.New("connection refused")}) }, "ironic", selfcheck.Error, "connection refused", "--ironic-endpoint"},
	"an Ironic that runs no deploy step": {
		func(w *world) { w.ironics = []selfcheck.Ironic{site{lacks: "custom-agent"}} }, "ironic", selfcheck.Error,
		"the deploy interface custom-agent is not enabled for ipmi, redfish: no host is installed by a deploy step", "enabled_deploy_interfaces",
	},
	"an Ironic that boots no live ISO": {
		func(w *world) { w.ironics = []selfcheck.Ironic{site{lacks: "ramdisk"}} }, "ironic", selfcheck.Warning,
		"the deploy interface ramdisk is not enabled for ipmi, redfish", "enabled_deploy_interfaces",
	},
	"no base image": {func(w *world) { w.base.Usable = nil }, "base images", selfcheck.Error, "there is none in /images, so no host gets a live image", "ironflow media fetch"},
	"base images on their way": {
		func(w *world) { w.base.Usable, w.base.List = nil, "/etc/list.yaml" }, "base images", selfcheck.Warning, "those of /etc/list.yaml are downloaded",
		"ironflow media list",
	},
	"a base image that cannot be downloaded": {
		func(w *world) {
			w.base.Usable, w.base.List, w.base.Failed = nil, "/etc/list.yaml", []string{"download https://mirror.example/live.iso: 404 Not Found"}
		},
		"base images", selfcheck.Error, "one of /etc/list.yaml is not there: download https://mirror.example/live.iso: 404 Not Found", "SHA-256",
	},
	"another base image that cannot be downloaded": {
		func(w *world) { w.base.List, w.base.Failed = "/etc/list.yaml", []string{"wrong SHA-256"} }, "base images", selfcheck.Error, "wrong SHA-256", "SHA-256",
	},
	"a broken base image": {
		func(w *world) { w.base.Broken = map[string]error{"/images/b.iso": errors.New("cut")} },
		"base images", selfcheck.Error, "b.iso cannot be used: cut", "complete file",
	},
	"no agent image":                 {func(w *world) { w.agent = "" }, "agent image", selfcheck.Warning, "no container image of ironic-python-agent", "--ironic-agent-image"},
	"an agent image without a place": {func(w *world) { w.agent = "ipa:latest" }, "agent image", selfcheck.Error, "no full image reference", "registry.example"},
	"an agent image that was not pushed": {
		func(w *world) { w.pullable = answers(true, "404") }, "agent image", selfcheck.Error, "404", "push the image",
	},
	"nobody at a published address": {
		func(w *world) { w.published[0].URL = "http://127.0.0.1:1" }, "reachable", selfcheck.Error,
		"--hub-publish-url http://127.0.0.1:1: from here, Ironflow does not answer", "firewalls",
	},
	"an address that Ironic does not reach": {
		func(w *world) { w.outside = urlcheck.Answer{Verdict: urlcheck.Unreached, Text: "Connection refused"} }, "outside", selfcheck.Error,
		"site-a does not reach --images-publish-url http://192.0.2.1:8080: Connection refused", "firewalls between Ironic",
	},
	"another server where Ironic looks": {
		func(w *world) { w.outside = urlcheck.Answer{Verdict: urlcheck.Other, Text: "it answers 404"} }, "outside", selfcheck.Error,
		"another server than Ironflow answers at --images-publish-url http://192.0.2.1:8080: it answers 404", "BMCs reach live images",
	},
	"images whose CA Ironic does not have": {
		func(w *world) {
			w.outside = urlcheck.Answer{Verdict: urlcheck.Untrusted, Text: "certificate verify failed"}
		}, "outside", selfcheck.Error,
		"but not by TLS: certificate verify failed", "webserver_verify_ca",
	},
	"a node that is left in Ironic": {
		func(w *world) { w.unasked = fmt.Errorf("%w: busy", urlcheck.ErrLeft) }, "outside", selfcheck.Warning,
		"site-a: the node ironflow_check is left in Ironic", "baremetal node delete ironflow_check",
	},
	"somebody else at an address":    {func(w *world) { w.published[0].URL += "/elsewhere" }, "reachable", selfcheck.Error, "404", "ingress"},
	"a certificate that has run out": {func(w *world) { w.files = append(w.files, w.certificate(time.Now().AddDate(-2, 0, 0))) }, "certificates", selfcheck.Error, "was valid until", "renew"},
	"a certificate that will":        {func(w *world) { w.files = append(w.files, w.certificate(time.Now().AddDate(0, 0, -360))) }, "certificates", selfcheck.Warning, "is valid until", "renew"},
	"a CA that is none":              {func(w *world) { w.files = append(w.files, w.text("no certificate")) }, "certificates", selfcheck.Error, "holds no certificate in PEM", "PEM"},
	"a data folder that is none":     {func(w *world) { w.data = w.text("x").Cert }, "data folder", selfcheck.Error, "is no folder", "65532"},
	"no data folder":                 {func(w *world) { w.data = "/nowhere/data" }, "data folder", selfcheck.Error, "no such file", "--data-dir"},
}

// TestFaultsAreNamed plants one fault after the other: each is named, with what to do, and nothing else is wrong.
func TestFaultsAreNamed(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			f.plant(w)
			report := w.run()
			w.Expect(report.Worst()).To(Equal(f.level))
			var named []selfcheck.Finding
			for _, found := range report {
				if found.Level != selfcheck.OK && (!w.away || found.Check == f.check) {
					named = append(named, found)
				}
			}
			w.Expect(named).To(HaveLen(1))
			w.Expect(named[0]).To(And(HaveField("Check", f.check), HaveField("Level", f.level), HaveField("Text", ContainSubstring(f.text)), HaveField("Next", ContainSubstring(f.next))))
		})
	}
}

// lose takes a definition away.
func (w *world) lose(name string) {
	var left []*apiextensionsv1.CustomResourceDefinition
	for _, d := range w.definitions {
		if d.Name != name {
			left = append(left, d)
		}
	}
	w.definitions = left
}

// age takes a field out of a definition.
func (w *world) age(name, field string) {
	for _, d := range w.definitions {
		if d.Name == name {
			delete(d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties, field)
		}
	}
}

func (w *world) text(content string) selfcheck.CertificateFile {
	file := filepath.Join(w.t.TempDir(), "ca.crt")
	w.Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	return selfcheck.CertificateFile{What: "the CA of BMCs", Cert: file}
}

func lease() *coordinationv1.Lease {
	holder, seconds, now := "bmo-0", int32(3600), metav1.NowMicro()
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "metal3", Name: names.OperatorLease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
}

// answers is a registry, or what is in the way of one.
func answers(known bool, text string) selfcheck.Pullable {
	return func(context.Context, string) (bool, error) { return known, errors.New(text) }
}

// TestARegistryThatOnlyMachinesReach is no fault, and it is said that nobody could be asked.
func TestARegistryThatOnlyMachinesReach(t *testing.T) {
	w := newWorld(t)
	w.pullable = answers(false, "no route to host")
	report := w.run()
	w.Expect(report.Worst()).To(Equal(selfcheck.OK), "%v", report)
	w.Expect(report).To(ContainElement(HaveField("Text", ContainSubstring("could not be asked from here: no route to host"))))
}

// TestAnIronicThatDoesNotSay whether it reaches us is no fault; nor is a hub whose CA only machines have.
func TestAnIronicThatDoesNotSay(t *testing.T) {
	for name, c := range map[string]struct {
		answer  urlcheck.Answer
		unasked error
		want    string
	}{
		"an old one":               {urlcheck.Answer{Verdict: urlcheck.Unknown, Text: "it says nothing"}, nil, "did not say whether it reaches --hub-publish-url https://hub.example: it says nothing"},
		"one that is away":         {urlcheck.Answer{}, errors.New("connection refused"), "site-a was not asked whether it reaches us: connection refused"},
		"one without the hub's CA": {urlcheck.Answer{Verdict: urlcheck.Untrusted}, nil, "reaches --hub-publish-url https://hub.example, and does not know the CA"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{outside: c.answer, unasked: c.unasked}
			report := selfcheck.Run(t.Context(), []selfcheck.Check{
				selfcheck.Outside([]selfcheck.AskedIronic{{Who: "site-a", Ask: w.look}}, []selfcheck.Published{{Flag: "hub-publish-url", URL: "https://hub.example"}}),
			})
			NewWithT(t).Expect(report).To(ConsistOf(And(HaveField("Level", selfcheck.OK), HaveField("Text", ContainSubstring(c.want)))))
		})
	}
}

// TestTheAddressThatIronicNeedsIsAskedFirst: an Ironic that waits long for one address may not come to the next, and what
// it said of the first is told.
func TestTheAddressThatIronicNeedsIsAskedFirst(t *testing.T) {
	far := func(_ context.Context, urls []string) ([]urlcheck.Answer, error) {
		return []urlcheck.Answer{{URL: urls[0], Verdict: urlcheck.Unreached, Text: "no answer within 30s"}}, errors.New("the check took longer than 1m0s")
	}
	NewWithT(t).Expect(selfcheck.Run(t.Context(), []selfcheck.Check{selfcheck.Outside([]selfcheck.AskedIronic{{Who: "site-a", Ask: far}}, []selfcheck.Published{
		{Flag: "hub-publish-url", URL: "https://hub.example"}, {Flag: "images-publish-url", URL: "http://images.example", ByIronic: true},
	})})).To(HaveExactElements(
		And(HaveField("Level", selfcheck.Error), HaveField("Text", ContainSubstring("does not reach --images-publish-url http://images.example"))),
		And(HaveField("Level", selfcheck.OK), HaveField("Text", "site-a was not asked whether it reaches --hub-publish-url: the check took longer than 1m0s")),
	))
}

// TestCredentialsOfAPublishedAddress are told to nobody who reads what was found.
func TestCredentialsOfAPublishedAddress(t *testing.T) {
	for _, address := range []string{"http://bmc:s3cret@127.0.0.1:1", "http://bmc:s3cret@images.invalid", "http://bmc:s3cret@images.invalid:port"} {
		published := []selfcheck.Published{{Flag: "images-publish-url", URL: address, ByIronic: true}}
		look := func(context.Context, []string) ([]urlcheck.Answer, error) {
			return []urlcheck.Answer{{URL: address, Verdict: urlcheck.Unreached}}, nil
		}
		checks := []selfcheck.Check{selfcheck.Loopback(published), selfcheck.Answers(published), selfcheck.Outside([]selfcheck.AskedIronic{{Who: "site-a", Ask: look}}, published)}
		NewWithT(t).Expect(selfcheck.Run(t.Context(), checks)).To(And(HaveLen(3), Not(ContainElement(HaveField("Text", ContainSubstring("s3cret"))))))
	}
}

// TestRightsOfFeatures: who runs the controllers alone needs no right on the hub's kinds.
func TestRightsOfFeatures(t *testing.T) {
	g := NewWithT(t)
	rules, err := config.Rules()
	g.Expect(err).NotTo(HaveOccurred())
	groups := func(f selfcheck.Features) (groups, resources []string) {
		for _, r := range f.Needed(rules) {
			groups, resources = append(groups, r.APIGroups...), append(resources, r.Resources...)
		}
		return groups, resources
	}
	alone, kinds := groups(selfcheck.Features{})
	g.Expect(alone).To(ContainElement("metal3.io"))
	g.Expect(alone).NotTo(ContainElements("agent-install.openshift.io"))
	g.Expect(alone).NotTo(ContainElement("ironflow.io"))
	g.Expect(kinds).NotTo(ContainElement("hostclaims"))
	all, kinds := groups(selfcheck.Features{Hub: true, BMCs: true, Claims: true})
	g.Expect(all).To(ContainElements("agent-install.openshift.io", "hive.openshift.io", "ironflow.io"))
	g.Expect(kinds).To(ContainElement("hostclaims"))
	g.Expect(selfcheck.Features{Claims: true}.Needed(rules)).To(ContainElement(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}}))
}

// TestEachDefinitionMayBeRead by its name, of those of the features that are on, and no other object of that kind.
func TestEachDefinitionMayBeRead(t *testing.T) {
	g := NewWithT(t)
	rules, err := config.Rules()
	g.Expect(err).NotTo(HaveOccurred())
	definitions, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	readable := func(f selfcheck.Features) (list []string) {
		for _, r := range f.Needed(rules) {
			if slices.Contains(r.Resources, "customresourcedefinitions") {
				g.Expect(r.Verbs).To(HaveExactElements("get"))
				g.Expect(r.ResourceNames).NotTo(BeEmpty(), "a rule without names is one for all")
				list = append(list, r.ResourceNames...)
			}
		}
		return list
	}
	var all, hosts []string
	for _, d := range definitions {
		all = append(all, d.Name)
		if d.Spec.Group == "metal3.io" && d.Name != "hostclaims.metal3.io" && d.Name != "hostdeploypolicies.metal3.io" {
			hosts = append(hosts, d.Name)
		}
	}
	g.Expect(readable(selfcheck.Features{Hub: true, BMCs: true, Claims: true})).To(ConsistOf(all))
	g.Expect(readable(selfcheck.Features{})).To(ConsistOf(hosts))
}

// TestOnlyNewFindingsAreTold: the log has one line for an Ironic that is away, not one each time.
func TestOnlyNewFindingsAreTold(t *testing.T) {
	g := NewWithT(t)
	away := selfcheck.Finding{Check: "ironic", Level: selfcheck.Error, Text: "away", Next: "look"}
	back := selfcheck.Finding{Check: "ironic", Level: selfcheck.OK, Text: "answers"}
	g.Expect(selfcheck.Report{away}.New(nil)).To(HaveLen(1))
	g.Expect(selfcheck.Report{away}.New(selfcheck.Report{away})).To(BeEmpty())
	g.Expect(selfcheck.Report{back}.New(selfcheck.Report{away})).To(ConsistOf(back))
}

// TestLoopback names addresses that only this machine reaches.
func TestLoopback(t *testing.T) {
	g := NewWithT(t)
	report := selfcheck.Run(t.Context(), []selfcheck.Check{selfcheck.Loopback([]selfcheck.Published{
		{Flag: "hub-publish-url", Whom: "machines reach the hub", URL: "https://127.0.0.1:8090"},
		{Flag: "images-publish-url", Whom: "BMCs reach live images", URL: "http://192.0.2.1:8080"},
	})})
	g.Expect(report).To(HaveLen(1))
	g.Expect(report[0].Text).To(Equal("--hub-publish-url is https://127.0.0.1:8090, which only this machine reaches"))
	var out strings.Builder
	g.Expect(report.JSON(&out)).To(Succeed())
	g.Expect(out.String()).To(And(ContainSubstring(`"level": "warning"`), ContainSubstring(`"check": "addresses"`)))
	g.Expect(report.ExitCode()).To(Equal(selfcheck.ExitWarnings))
}

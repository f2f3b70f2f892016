package drain_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/controllers/link/drain"
)

const machine = "11111111-2222-3333-4444-555555555555"

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cluster is one with these objects, in which nobody may be evicted whose name is kept.
func cluster(g *WithT, kept string, objects ...client.Object) client.Client {
	scheme := runtime.NewScheme()
	g.Expect(errors.Join(corev1.AddToScheme(scheme), policyv1.AddToScheme(scheme))).To(Succeed())
	onNode := func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&corev1.Pod{}, "spec.nodeName", onNode).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceCreate: func(ctx context.Context, c client.Client, what string, o, sub client.Object, options ...client.SubResourceCreateOption) error {
				if o.GetName() == kept {
					return apierrors.NewTooManyRequests("a disruption budget needs it", 10)
				}
				return c.SubResource(what).Create(ctx, o, sub, options...)
			},
		}).Build()
}

func node(name, id string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	n.Status.NodeInfo.SystemUUID = id
	for _, c := range change {
		c(n)
	}
	return n
}

func pod(name, on string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "work", Name: name}}
	p.Spec.NodeName = on
	for _, c := range change {
		c(p)
	}
	return p
}

func unknown(n *corev1.Node) {
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
}

func going(since time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(now.Add(-since))
		p.DeletionTimestamp, p.Finalizers = &at, []string{"example.com/last-words"}
	}
}

// TestANodeLeavesItsCluster, and takes nobody with it who may not go.
func TestANodeLeavesItsCluster(t *testing.T) {
	ours := drain.Job{MachineID: machine, Hostname: "Edge-1", Addresses: []string{"192.0.2.7"}}
	force := ours
	force.Force = true
	addressed := func(address string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
		}
	}
	daemon := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d", Controller: new(true)}}
	}
	for name, tc := range map[string]struct {
		job     drain.Job
		kept    string
		objects []client.Object
		want    drain.Progress
		left    []string // Nodes and Pods
		closed  bool     // the Node takes nothing more
	}{
		"a Node without work": {job: ours, objects: []client.Object{node("a", machine), node("b", "other")}, want: drain.Progress{Done: true}, left: []string{"b"}},
		"no such Node":        {job: ours, objects: []client.Object{node("b", "other")}, want: drain.Progress{Done: true}, left: []string{"b"}},
		"a machine that tells its cluster another id": {
			job: ours, objects: []client.Object{node("edge-1", "odd", addressed("192.0.2.7"))}, want: drain.Progress{Done: true},
		},
		"another machine, which has its name now": {
			job: ours, objects: []client.Object{node("edge-1", "other", addressed("192.0.2.9"))}, want: drain.Progress{Done: true}, left: []string{"edge-1"},
		},
		"work is evicted, and has to be gone first": {
			job: ours, objects: []client.Object{node("a", machine), pod("web", "a"), pod("elsewhere", "b")},
			want: drain.Progress{Says: "1 Pods are still on Node a: work/web"}, left: []string{"a", "elsewhere"}, closed: true,
		},
		"what ends with its Node is left to it": {
			job: ours, objects: []client.Object{
				node("a", machine), pod("daemon", "a", daemon), pod("over", "a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
				pod("mirror", "a", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }),
			},
			want: drain.Progress{Done: true}, left: []string{"daemon", "mirror", "over"},
		},
		"a disruption budget is waited for": {
			job: ours, kept: "database", objects: []client.Object{node("a", machine), pod("database", "a")},
			want: drain.Progress{Says: "1 Pods are still on Node a: work/database"}, left: []string{"a", "database"}, closed: true,
		},
		"until the time is over": {
			job: force, kept: "database", objects: []client.Object{node("a", machine), pod("database", "a")},
			want: drain.Progress{Done: true, Forced: true, Says: "1 Pods were still on Node a, which is removed: work/database"}, left: []string{"database"},
		},
		"a Pod that goes is waited for": {
			job: ours, objects: []client.Object{node("a", machine), pod("slow", "a", going(time.Hour))},
			want: drain.Progress{Says: "1 Pods are still on Node a: work/slow"}, left: []string{"a", "slow"}, closed: true,
		},
		"but not for ever on a Node that is dead": {
			job: ours, objects: []client.Object{node("a", machine, unknown), pod("slow", "a", going(6*time.Minute))}, want: drain.Progress{Done: true}, left: []string{"slow"},
		},
		"nor at once": {
			job: ours, objects: []client.Object{node("a", machine, unknown), pod("slow", "a", going(4*time.Minute))},
			want: drain.Progress{Says: "1 Pods are still on Node a: work/slow"}, left: []string{"a", "slow"}, closed: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := cluster(g, tc.kept, tc.objects...)
			g.Expect(drain.Node(t.Context(), c, tc.job, now)).To(Equal(tc.want))
			var nodes corev1.NodeList
			var pods corev1.PodList
			g.Expect(errors.Join(c.List(t.Context(), &nodes), c.List(t.Context(), &pods))).To(Succeed())
			var left []string
			for _, n := range nodes.Items {
				left = append(left, n.Name)
				g.Expect(n.Spec.Unschedulable).To(Equal(tc.closed), n.Name)
			}
			for _, p := range pods.Items {
				left = append(left, p.Name)
			}
			g.Expect(left).To(ConsistOf(tc.left))
		})
	}
}

// TestAClusterThatIsAway is no cluster without the Node.
func TestAClusterThatIsAway(t *testing.T) {
	g := NewWithT(t)
	away := interceptor.NewClient(cluster(g, "").(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("no route to host")
		},
	})
	g.Expect(drain.Node(t.Context(), away, drain.Job{MachineID: machine}, now)).To(Equal(drain.Progress{Says: "the cluster does not answer: no route to host"}))
	g.Expect(drain.Node(t.Context(), away, drain.Job{MachineID: machine, Force: true}, now)).To(HaveField("Forced", true))
}

// TestAKubeconfigRunsNothing of the hub's, and reads nothing: it comes from a Secret.
func TestAKubeconfigRunsNothing(t *testing.T) {
	const head = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
	const at = "clusters: [{name: k, cluster: {server: 'https://127.0.0.1:1'}}]\n"
	for name, tc := range map[string]struct{ text, refused string }{
		"a token":             {head + at + "users: [{name: u, user: {token: t}}]\n", ""},
		"a program":           {head + at + "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}}]\n", "exec would run a program"},
		"a provider":          {head + at + "users: [{name: u, user: {auth-provider: {name: oidc}}}]\n", "auth-provider"},
		"a file with a token": {head + at + "users: [{name: u, user: {tokenFile: /var/run/secrets/token}}]\n", "are files"},
		"a file with a key":   {head + at + "users: [{name: u, user: {client-key: /etc/key}}]\n", "are files"},
		"a file with an issuer": {
			head + "clusters: [{name: k, cluster: {server: 'https://127.0.0.1:1', certificate-authority: /etc/passwd}}]\nusers: [{name: u, user: {token: t}}]\n",
			"certificate-authority is a file",
		},
		"no kubeconfig": {"hello", "cannot be read"},
		"nothing":       {"", "opens nothing"},
		"a user of another kind": {
			head + at + "users: [{name: u, user: {token: t}}, {name: other, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}}]\n",
			`user "other"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := drain.Open([]byte(tc.text), "")
			if tc.refused == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.refused)))
		})
	}
}

// TestAClusterIsAskedWhereItIs: at the server that is named, else where its kubeconfig says, with the kubeconfig's
// authority and credentials.
func TestAClusterIsAskedWhereItIs(t *testing.T) {
	g := NewWithT(t)
	var asked []string
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization")+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"NodeList","metadata":{},"items":[]}`))
	}))
	t.Cleanup(api.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	kubeconfig := func(server string) []byte {
		return []byte("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n" +
			"clusters: [{name: k, cluster: {server: '" + server + "', certificate-authority-data: " + ca + "}}]\nusers: [{name: u, user: {token: t}}]\n")
	}
	for server, said := range map[string]string{"": api.URL, api.URL: "https://127.0.0.1:1"} {
		asked = nil
		c, err := drain.Open(kubeconfig(said), server)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.List(t.Context(), &corev1.NodeList{})).To(Succeed())
		g.Expect(asked).To(Equal([]string{"Bearer t /api/v1/nodes"}))
	}
}

// TestTheDeskLooksOnceAtATime, and nobody waits for it.
func TestTheDeskLooksOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		opened, answer := 0, make(chan client.Client)
		checker := &drain.Checker{Reach: func([]byte, string) (client.Client, error) {
			opened++
			return <-answer, nil
		}}
		host := types.NamespacedName{Namespace: "site", Name: "node-0"}
		g.Expect(checker.Heard(host)).To(BeNil())
		for range 3 {
			checker.Look(t.Context(), host, drain.Job{MachineID: machine})
		}
		synctest.Wait()
		g.Expect(checker.Heard(host)).To(BeNil())
		answer <- cluster(g, "", node("a", machine))
		synctest.Wait()
		g.Expect(checker.Heard(host)).To(Equal(&drain.Progress{Done: true}))
		g.Expect(opened).To(Equal(1), "it was asked for thrice")
		checker.Forget(host)
		g.Expect(checker.Heard(host)).To(BeNil())
	})
}

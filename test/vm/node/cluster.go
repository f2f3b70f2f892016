package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// PodName is the pod of [Manifest], in the namespace default.
const PodName = "hello"

// Manifest is a pod of a user's in the network of pods.
func (s *Site) Manifest() string {
	return `apiVersion: v1
kind: Pod
metadata: {name: ` + PodName + `, namespace: default}
spec:
  automountServiceAccountToken: false
  containers:
  - {name: ` + PodName + `, image: "` + s.pause + `"}
`
}

// Cluster is a cluster as somebody sees it from outside who has its kubeconfig.
type Cluster struct {
	config *rest.Config
	client client.Client
}

// Open is the cluster of a kubeconfig. Nothing is asked yet.
func Open(kubeconfig []byte) (*Cluster, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.Timeout = time.Minute
	// The kinds are known without asking the API for them.
	c, err := client.New(config, client.Options{})
	return &Cluster{config, c}, err
}

// State is what is there; it is the last line of a run.
type State struct {
	Nodes   int `json:"nodes"`
	Ready   int `json:"ready"`
	Pods    int `json:"pods"`
	Seconds int `json:"seconds"`
	// Waits says what is not ready.
	Waits []string `json:"-"`
}

// Look counts nodes and running pods. An error is an API that does not answer.
func (c *Cluster) Look(ctx context.Context) (State, error) {
	var nodes corev1.NodeList
	var pods corev1.PodList
	if err := errors.Join(c.client.List(ctx, &nodes), c.client.List(ctx, &pods)); err != nil {
		return State{}, fmt.Errorf("look into the cluster: %w", err)
	}
	s := State{Nodes: len(nodes.Items)}
	for _, n := range nodes.Items {
		if slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			s.Ready++
			continue
		}
		s.Waits = append(s.Waits, "node "+n.Name+" is not Ready")
	}
	for _, p := range pods.Items {
		if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			s.Pods++
			continue
		}
		if p.Status.Phase != corev1.PodSucceeded {
			s.Waits = append(s.Waits, "pod "+p.Namespace+"/"+p.Name+" "+reason(p))
		}
	}
	return s, nil
}

// reason is why a pod is not ready, as far as it says so.
func reason(p corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil && w.Reason != "" {
			return "is not ready: " + w.Reason + " " + w.Message
		}
	}
	return "is " + string(p.Status.Phase)
}

// Await waits for a cluster of so many nodes whose nodes and pods are all ready, the pod
// of [Manifest] among them. The error says what it has waited for last.
func (c *Cluster) Await(ctx context.Context, nodes int, limit time.Duration, told func(string)) (State, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the cluster is not up within %s", limit))
	defer cancel()
	last := ""
	for {
		s, err := c.Look(ctx)
		now := strings.Join(s.Waits, "; ")
		var pod corev1.Pod
		switch {
		case err != nil:
			now = err.Error()
		case s.Nodes != nodes:
			now = fmt.Sprintf("%d of %d nodes; %s", s.Nodes, nodes, now)
		case now == "":
			if err = c.client.Get(ctx, client.ObjectKey{Namespace: "default", Name: PodName}, &pod); err == nil {
				return s, nil
			}
			now = err.Error()
		}
		if now != last {
			last = now
			told(now)
		}
		select {
		case <-ctx.Done():
			return s, fmt.Errorf("%w: %s", context.Cause(ctx), last)
		case <-time.After(2 * time.Second):
		}
	}
}

// PodAddress is the address of the pod of [Manifest].
func (c *Cluster) PodAddress(ctx context.Context) (string, error) {
	var pod corev1.Pod
	err := c.client.Get(ctx, client.ObjectKey{Namespace: "default", Name: PodName}, &pod)
	return pod.Status.PodIP, err
}

// NodeOf is the node of the namespace's one pod.
func (c *Cluster) NodeOf(ctx context.Context, namespace string) (string, error) {
	var pods corev1.PodList
	if err := c.client.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return "", err
	}
	if len(pods.Items) != 1 {
		return "", fmt.Errorf("namespace %s has %d pods", namespace, len(pods.Items))
	}
	return pods.Items[0].Spec.NodeName, nil
}

// Greet makes the pod of [Manifest] again: one that has no controller is gone with its node.
func (c *Cluster) Greet(ctx context.Context, manifest string) error {
	var pod corev1.Pod
	if err := yaml.Unmarshal([]byte(manifest), &pod); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(c.client.Create(ctx, &pod))
}

// Forget deletes a node, as a person does whose machine is lost.
func (c *Cluster) Forget(ctx context.Context, name string) error {
	return c.client.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// Requests are the signing requests of kubelets: what became of each, by the signer.
func (c *Cluster) Requests(ctx context.Context) (map[string][]string, error) {
	var list certificatesv1.CertificateSigningRequestList
	if err := c.client.List(ctx, &list); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, r := range list.Items {
		became := "Pending"
		for _, condition := range r.Status.Conditions {
			became = string(condition.Type)
		}
		out[r.Spec.SignerName] = append(out[r.Spec.SignerName], became)
	}
	return out, nil
}

// Logs reads the log of the pod of [Manifest] from its kubelet.
func (c *Cluster) Logs(ctx context.Context) error {
	core, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return err
	}
	return core.CoreV1().Pods("default").GetLogs(PodName, &corev1.PodLogOptions{}).Do(ctx).Error()
}

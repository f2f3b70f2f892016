package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ignored is how long a Pod may be on its way out of a Node that nobody hears of; nobody is left
// there who could end it.
const ignored = 5 * time.Minute

// Job is a machine whose Node is to go.
type Job struct {
	// Kubeconfig opens its cluster, which is asked at Server; empty for where the kubeconfig says.
	Kubeconfig []byte
	Server     string
	// MachineID is the machine's id in the hub, by which its Node is found. A machine that tells
	// its cluster another one is found by its Hostname, if it also has one of its Addresses.
	MachineID, Hostname string
	Addresses           []string
	// Force removes the Node, whatever is still on it.
	Force bool
}

// Progress is how far that is.
type Progress struct {
	// Done tells that the cluster has no such Node any more, or that this cannot be brought about.
	Done bool
	// Forced tells that it was tried by force.
	Forced bool
	// Says is why it is not done, or what was not done; empty for success.
	Says string
}

// Node does as much as can be done now.
func Node(ctx context.Context, c client.Client, job Job, now time.Time) Progress {
	node, err := find(ctx, c, job)
	switch {
	case err != nil:
		return Progress{Forced: job.Force, Says: "the cluster does not answer: " + err.Error()}
	case node == nil:
		return Progress{Done: true}
	}
	if err := cordon(ctx, c, node); err != nil {
		return Progress{Forced: job.Force, Says: err.Error()}
	}
	left, err := evict(ctx, c, node, now)
	if err != nil && !job.Force {
		return Progress{Says: err.Error()}
	}
	if len(left) > 0 && !job.Force {
		return Progress{Says: fmt.Sprintf("%d Pods are still on Node %s: %s", len(left), node.Name, few(left))}
	}
	err = c.Delete(ctx, node, client.Preconditions{UID: &node.UID})
	if client.IgnoreNotFound(err) != nil {
		return Progress{Forced: job.Force, Says: fmt.Sprintf("remove Node %s: %v", node.Name, err)}
	}
	if len(left) > 0 {
		return Progress{Done: true, Forced: true, Says: fmt.Sprintf("%d Pods were still on Node %s, which is removed: %s", len(left), node.Name, few(left))}
	}
	return Progress{Done: true}
}

// find is the Node of the machine; nil when there is none.
func find(ctx context.Context, c client.Client, job Job) (*corev1.Node, error) {
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return nil, err
	}
	is := func(n corev1.Node) bool { return strings.EqualFold(n.Status.NodeInfo.SystemUUID, job.MachineID) }
	at := slices.IndexFunc(nodes.Items, is)
	if at < 0 {
		at = slices.IndexFunc(nodes.Items, func(n corev1.Node) bool {
			return n.Name == strings.ToLower(job.Hostname) && slices.ContainsFunc(n.Status.Addresses, func(a corev1.NodeAddress) bool {
				return a.Type == corev1.NodeInternalIP && slices.Contains(job.Addresses, a.Address)
			})
		})
	}
	if at < 0 {
		return nil, nil //nolint:nilnil // none is an answer
	}
	return &nodes.Items[at], nil
}

// cordon has nothing more come to the Node.
func cordon(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.Spec.Unschedulable {
		return nil
	}
	before := node.DeepCopy()
	node.Spec.Unschedulable = true
	if err := c.Patch(ctx, node, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("cordon Node %s: %w", node.Name, err)
	}
	return nil
}

// evict asks all Pods of the Node to leave that can, and returns those that have not left.
func evict(ctx context.Context, c client.Client, node *corev1.Node, now time.Time) (left []string, err error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node.Name}); err != nil {
		return nil, fmt.Errorf("list the Pods of Node %s: %w", node.Name, err)
	}
	lost := unheard(node)
	for i := range pods.Items {
		pod := &pods.Items[i]
		switch {
		case stays(pod), lost && pod.DeletionTimestamp != nil && now.Sub(pod.DeletionTimestamp.Time) > ignored:
			continue
		case pod.DeletionTimestamp == nil:
			failure := c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})
			if apierrors.IsNotFound(failure) {
				continue
			}
			if !apierrors.IsTooManyRequests(failure) { // a disruption budget allows it later
				err = errors.Join(err, wrapped(pod, failure))
			}
		}
		left = append(left, pod.Namespace+"/"+pod.Name)
	}
	return left, err
}

func wrapped(pod *corev1.Pod, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("evict Pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// stays tells of a Pod that ends with its Node: it is over, is one of each Node, or the Node's own.
func stays(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	owner := metav1.GetControllerOf(pod)
	return mirror || owner != nil && owner.Kind == "DaemonSet" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// unheard tells that the cluster does not hear of the Node.
func unheard(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	})
}

// few are the first of a list, for people.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// lastEvents is how many events the tree shows.
const lastEvents = 8

func newDescribe(c *connection) *cobra.Command {
	of := func(use, short string, k kind, gather gatherer) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete(k, 1), RunE: func(cmd *cobra.Command, args []string) error {
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			root, err := gather(cmd.Context(), cl, namespace, args[0])
			if err != nil {
				return err
			}
			return render.TreeWithin(cmd.OutOrStdout(), root, terminalWidth(cmd.OutOrStdout()))
		}}
	}
	host := func(ctx context.Context, cl client.Client, namespace, name string) (render.Node, error) {
		bare, err := hostKind.bare([]string{name})
		if err != nil {
			return render.Node{}, err
		}
		return describe(ctx, cl, types.NamespacedName{Namespace: namespace, Name: bare[0]}, time.Now())
	}
	cmd := of("describe HOST", "Show a host or a cluster, and everything that belongs to it, as a tree", hostKind, host)
	cmd.AddCommand(
		of("host HOST", "Show a host; needed only for hosts that are named host or cluster", hostKind, host),
		of("cluster CLUSTER", "Show a cluster with its hosts, roles, stages, checks and operators, what it waits for and who can end that", clusterKind, describeCluster),
	)
	return cmd
}

// gatherer makes the tree of what is called name.
type gatherer func(ctx context.Context, cl client.Client, namespace, name string) (render.Node, error)

// describe gathers the tree of a host. What cannot be read is said in its place, and each text once.
func describe(ctx context.Context, cl client.Client, key types.NamespacedName, now time.Time) (render.Node, error) {
	host := &metal3v1.BareMetalHost{}
	if err := readHost(ctx, cl, key, host); err != nil {
		return render.Node{}, err
	}
	v, a := view.Of(host), hostWhy(host, now)
	image := imageNode(ctx, cl, key)
	said := &said{}
	said.node(a.node())
	said.text(v.Message(), v.Reason, host.Status.ErrorMessage)
	root := render.Node{Title: "BareMetalHost/" + host.Name, Children: []render.Node{
		{Title: "phase: " + a.state, Children: append([]render.Node{render.Leaf("step", stepBeside(a, v))}, a.node().Children...)},
		render.Leaff("power: %s", render.Power(v)),
		render.Leaf("consumer", v.Consumer), render.Leaf("deploys", v.Method),
		bmcNode(ctx, cl, host, said),
		firmwareNode(ctx, cl, key, said),
		conditionsNode(host.Status.Conditions, said),
		image,
		hardwareNode(ctx, cl, key),
		agentNode(ctx, cl, host, now),
		eventsNode(ctx, cl, host, now),
	}}
	return root, nil
}

// stepBeside is the step, unless the answer has it.
func stepBeside(a answer, v view.View) string {
	if line := stepLine(v); !strings.Contains(a.waits, line) {
		return line
	}
	return ""
}

func phaseLine(v view.View, now time.Time) string {
	if d := render.Elapsed(v.InPhase(now)); d != "" {
		return v.Phase + " since " + d
	}
	return v.Phase
}

func stepLine(v view.View) string {
	line := v.Step
	if v.Percent > 0 {
		line += fmt.Sprintf(" %d%%", v.Percent)
	}
	if v.Text != "" {
		line += ": " + v.Text
	}
	return line
}

func secretNode(ctx context.Context, cl client.Client, host *metal3v1.BareMetalHost) render.Node {
	name := host.Spec.BMC.CredentialsName
	if name == "" {
		return render.Node{Title: "no credentials named"}
	}
	// Only the name: this command needs no right to read secrets' data.
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := cl.Get(ctx, types.NamespacedName{Namespace: host.Namespace, Name: name}, meta); err != nil {
		return render.Leaff("Secret/%s: %v", name, err)
	}
	accepted := "not accepted yet"
	if ref := host.Status.GoodCredentials.Reference; ref != nil && ref.Name == name {
		accepted = "accepted"
	}
	return render.Leaff("Secret/%s: %s", name, accepted)
}

// conditionsNode lists conditions. What their messages say that stands elsewhere in the tree is left out.
func conditionsNode(conditions []metav1.Condition, said *said) render.Node {
	n := render.Node{Title: "conditions"}
	for _, c := range conditions {
		n.Children = append(n.Children, conditionLine(c.Type, string(c.Status), c.Reason, said.once(c.Message)))
	}
	if len(n.Children) == 0 {
		return render.Node{}
	}
	return n
}

func conditionLine(kind, status, reason, message string) render.Node {
	if message != "" {
		reason += ": " + message
	}
	return render.Leaff("%s=%s %s", kind, status, reason)
}

func imageNode(ctx context.Context, cl client.Client, key types.NamespacedName) render.Node {
	image := &metal3v1.PreprovisioningImage{}
	if err := cl.Get(ctx, key, image); err != nil {
		return unreadable("PreprovisioningImage", key.Name, err)
	}
	n, said := render.Node{Title: "PreprovisioningImage/" + image.Name}, &said{}
	for _, c := range image.Status.Conditions {
		n.Children = append(n.Children, conditionLine(c.Type, string(c.Status), c.Reason, said.once(c.Message)))
	}
	return n
}

func hardwareNode(ctx context.Context, cl client.Client, key types.NamespacedName) render.Node {
	data := &metal3v1.HardwareData{}
	if err := cl.Get(ctx, key, data); err != nil {
		return unreadable("HardwareData", key.Name, err)
	}
	hw := data.Spec.HardwareDetails
	if hw == nil {
		return render.Node{}
	}
	return render.Leaff("HardwareData/%s: %s %s, %d CPUs, %d MiB, %d disks, %d NICs", key.Name, hw.SystemVendor.Manufacturer,
		hw.SystemVendor.ProductName, hw.CPU.Count, hw.RAMMebibytes, len(hw.Storage), len(hw.NIC))
}

func agentNode(ctx context.Context, cl client.Client, host *metal3v1.BareMetalHost, now time.Time) render.Node {
	var agents agentv1.AgentList
	err := cl.List(ctx, &agents, client.InNamespace(host.Namespace), client.MatchingLabels{names.AgentHostLabel: names.HostLabel(host.Name)})
	if err != nil {
		return unreadable("Agent", "of this host", err)
	}
	if len(agents.Items) == 0 {
		return render.Node{}
	}
	a := &agents.Items[0]
	why, said := agentWhy(a, now), &said{}
	said.node(why.node())
	n := render.Node{Title: why.title + ": " + why.state, Children: append(why.node().Children, render.Leaf("info", said.once(a.Status.DebugInfo.StateInfo)))}
	for _, c := range a.Status.Conditions {
		n.Children = append(n.Children, conditionLine(c.Type, string(c.Status), c.Reason, said.once(c.Message)))
	}
	return n
}

func unreadable(kind, name string, err error) render.Node {
	if client.IgnoreNotFound(err) == nil {
		return render.Node{}
	}
	return render.Leaff("%s %s: %v", kind, name, err)
}

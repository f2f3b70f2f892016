package main

import (
	"context"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

const whyLong = `Says in a few lines why a host, a cluster or an agent does not go on: what it waits for, who can end that, and what to do next.
The texts come from its conditions.`

// answer is why something is where it is.
type answer struct {
	// title names it, state is where it is.
	title, state string
	// waits is what it waits for; reason is why it does not go on, in the place of that.
	waits, reason string
	// who can end it, next is what to do; empty when nothing is asked of anybody.
	who, next string
}

func (a answer) node() render.Node {
	return render.Node{Title: a.title + ": " + a.state, Children: []render.Node{
		render.Leaf("reason", a.reason), render.Leaf("waiting for", a.waits), render.Leaf("who ends it", a.who), render.Leaf("next", a.next),
	}}
}

func newWhy(c *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use: "why HOST", Short: "Say what a host, a cluster or an agent waits for, who can end that, and what to do next", Long: whyLong,
		Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete(hostKind, 1),
		Example: "  kubectl ironflow why node-1\n  kubectl ironflow why cluster prod\n  kubectl ironflow why agent node-1",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.why(cmd, hostKind, args[0]) },
	}
	for _, k := range kinds {
		cmd.AddCommand(&cobra.Command{
			Use: k.name + " NAME", Aliases: append([]string{k.many}, k.aliases...), Short: "Say why this " + k.name + " does not go on",
			Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete(k, 1),
			RunE: func(cmd *cobra.Command, args []string) error { return c.why(cmd, k, args[0]) },
		})
	}
	return cmd
}

// why prints the answer. A name may say its kind: cluster/prod.
func (c *connection) why(cmd *cobra.Command, k kind, name string) error {
	if prefix, _, has := strings.Cut(name, "/"); has {
		if of, known := kindOf(prefix); known {
			k = of
		}
	}
	bare, err := k.bare([]string{name})
	if err != nil {
		return err
	}
	cl, namespace, err := c.open()
	if err != nil {
		return err
	}
	a, err := c.answer(cmd.Context(), cl, k, namespace, bare[0])
	if err != nil {
		return err
	}
	return render.TreeWithin(cmd.OutOrStdout(), a.node(), terminalWidth(cmd.OutOrStdout()))
}

// answer reads what it takes.
func (c *connection) answer(ctx context.Context, cl client.Client, k kind, namespace, name string) (answer, error) {
	now := time.Now()
	switch k.name {
	case clusterKind.name:
		found, err := findCluster(ctx, cl, namespace, name)
		if err != nil {
			return answer{}, err
		}
		return clusterWhy(found), nil
	case agentKind.name:
		found, err := c.find(selection{kind: agentKind, names: []string{name}})
		if err != nil {
			return answer{}, err
		}
		a, err := typed[agentv1.Agent](found[0])
		if err != nil {
			return answer{}, err
		}
		return agentWhy(a, now), nil
	}
	h := &metal3v1.BareMetalHost{}
	if err := readHost(ctx, cl, types.NamespacedName{Namespace: namespace, Name: name}, h); err != nil {
		return answer{}, err
	}
	return hostWhy(h, now), nil
}

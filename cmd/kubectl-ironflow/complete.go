package main

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// anyNumber of names are taken.
const anyNumber = 0

// completeTime bounds what a person waits for at the press of a key.
const completeTime = 3 * time.Second

// pluginScript is what kubectl runs to complete the command line of a plugin.
//
//go:embed kubectl_complete-ironflow
var pluginScript string

// complete offers the names of a kind, at most that many of them; anyNumber for no limit.
func (c *connection) complete(k kind, most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most > anyNumber && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := c.offers(cmd.Context(), k)
		return slices.DeleteFunc(found, func(name string) bool {
			return slices.Contains(args, name) || !strings.HasPrefix(name, begun)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// offers are the names of a kind. A cluster that does not answer offers none: errors have no place there.
func (c *connection) offers(ctx context.Context, k kind) []string {
	ctx, stop := context.WithTimeout(ctx, completeTime)
	defer stop()
	cl, namespace, err := c.open()
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	for _, m := range k.made {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(m.gvk.GroupVersion().WithKind(m.gvk.Kind + "List"))
		if err := cl.List(ctx, list, client.InNamespace(namespace)); err != nil {
			continue
		}
		for i := range list.Items {
			name := list.Items[i].Name
			if host := list.Items[i].Labels[names.AgentHostLabel]; m.gvk == agentv1.GroupVersion.WithKind("Agent") && host != "" {
				name = host
			}
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// fixed offers some words.
func fixed(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOutput offers the values of --output.
func completeOutput(cmd *cobra.Command) {
	var words []string
	for _, f := range formats {
		word, value, has := strings.Cut(f, "=")
		if has && value != "" {
			word += "="
		}
		words = append(words, word)
	}
	_ = cmd.RegisterFlagCompletionFunc("output", func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		list, directive := fixed(words...)(cmd, args, begun)
		return list, directive | cobra.ShellCompDirectiveNoSpace
	}) // the flag exists
}

// addCompletion gives every shell its script, kubectl its own, and the flags of the connection their values.
func addCompletion(root *cobra.Command, c *connection) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Short = "Print a script that completes commands, flags and names in your shell"
			cmd.AddCommand(&cobra.Command{
				Use: "kubectl", Short: "Print the script that completes \"kubectl ironflow\"; save it as kubectl_complete-ironflow in PATH", Args: cobra.NoArgs,
				Example: "  kubectl ironflow completion kubectl >~/.local/bin/kubectl_complete-ironflow && chmod +x ~/.local/bin/kubectl_complete-ironflow",
				RunE: func(cmd *cobra.Command, _ []string) error {
					_, err := fmt.Fprint(cmd.OutOrStdout(), pluginScript)
					return err
				},
			})
		}
	}
	_ = root.RegisterFlagCompletionFunc("context", func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.DeleteFunc(slices.Sorted(maps.Keys(raw.Contexts)), func(name string) bool { return !strings.HasPrefix(name, begun) }), cobra.ShellCompDirectiveNoFileComp
	}) // the flag exists
	_ = root.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(c.namespaces(cmd.Context()), func(name string) bool { return !strings.HasPrefix(name, begun) }), cobra.ShellCompDirectiveNoFileComp
	}) // the flag exists
}

// namespaces are the names of all namespaces, if they may be read.
func (c *connection) namespaces(ctx context.Context) (list []string) {
	ctx, stop := context.WithTimeout(ctx, completeTime)
	defer stop()
	cl, _, err := c.open()
	if err != nil {
		return nil
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := cl.List(ctx, all); err != nil {
		return nil
	}
	for i := range all.Items {
		list = append(list, all.Items[i].Name)
	}
	slices.Sort(list)
	return list
}

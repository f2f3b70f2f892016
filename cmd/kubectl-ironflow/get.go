package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// refresh redraws the table while nothing changes, so that times go on.
const refresh = time.Second

type getOptions struct {
	all, watch bool
	output     string
	selector   string
	// names are those of the hosts; none for all.
	names []string
}

// outputs are what --output takes, beside nothing for a table.
var outputs = []string{"json", "yaml", "name"}

func newGetHosts(c *connection) *cobra.Command {
	var o getOptions
	cmd := &cobra.Command{
		Use:     "hosts [NAME...]",
		Aliases: []string{"host", "bmh"},
		Short:   "List hosts with phase, step, percent, time in phase and reason",
		RunE: func(cmd *cobra.Command, names []string) error {
			if o.output != "" && !slices.Contains(outputs, o.output) {
				return fmt.Errorf("--output %q is none of %s", o.output, strings.Join(outputs, ", "))
			}
			if o.names = names; o.all && len(names) > 0 {
				return errors.New("names are of one namespace: leave --all-namespaces out")
			}
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			if o.all {
				namespace = ""
			}
			if o.watch {
				return watchHosts(cmd.Context(), cl, namespace, cmd.OutOrStdout(), o)
			}
			hosts, err := listHosts(cmd.Context(), cl, namespace, o)
			if err != nil {
				return err
			}
			return printHosts(cmd.OutOrStdout(), hosts, o)
		},
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "hosts of all namespaces")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "keep the table up to date until Ctrl-C")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json (one object a line), yaml (a list) or name (for other commands); empty for a table")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "only hosts with these labels, such as rack=a1,role!=storage")
	return cmd
}

// listHosts reads the hosts that are asked for, sorted. One that is named and not there is an error.
func listHosts(ctx context.Context, cl client.Client, namespace string, o getOptions) ([]view.View, error) {
	items, err := selectHosts(ctx, cl, namespace, o.selector, o.names)
	if err != nil {
		return nil, err
	}
	views := make([]view.View, len(items))
	for i := range items {
		views[i] = view.Of(&items[i])
	}
	slices.SortFunc(views, func(a, b view.View) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return views, nil
}

// selectHosts reads hosts by labels and names; without either all of the namespace.
func selectHosts(ctx context.Context, cl client.Client, namespace, selector string, names []string) ([]metal3v1.BareMetalHost, error) {
	wanted, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("--selector %q: %w", selector, err)
	}
	var list metal3v1.BareMetalHostList
	if err := cl.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: wanted}); err != nil {
		return nil, fmt.Errorf("list hosts: %w", err)
	}
	if len(names) == 0 {
		return list.Items, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(list.Items, func(h metal3v1.BareMetalHost) bool { return h.Name == name }) {
			return nil, fmt.Errorf("host %s/%s is not there, or has other labels", namespace, name)
		}
	}
	return slices.DeleteFunc(list.Items, func(h metal3v1.BareMetalHost) bool { return !slices.Contains(names, h.Name) }), nil
}

func printHosts(w io.Writer, hosts []view.View, o getOptions) error {
	switch o.output {
	case "json":
		enc := json.NewEncoder(w)
		for _, h := range hosts {
			if err := enc.Encode(h); err != nil {
				return err
			}
		}
		return nil
	case "yaml":
		raw, err := yaml.Marshal(hosts)
		if err != nil {
			return err
		}
		_, err = w.Write(raw)
		return err
	case "name":
		for _, h := range hosts {
			fmt.Fprintf(w, "baremetalhost.metal3.io/%s\n", h.Name)
		}
		return nil
	}
	if len(hosts) == 0 {
		_, err := fmt.Fprintln(w, "No hosts found.")
		return err
	}
	width := terminalWidth(w)
	return render.Table(w, hosts, time.Now(), render.TableOptions{Namespace: o.all, Bar: width > 0, Width: width})
}

// terminalWidth is that of the terminal that w is; 0 when it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// watchHosts prints the table again whenever a host changed. On a terminal the
// screen is redrawn each second, elsewhere the table is appended.
func watchHosts(ctx context.Context, cl client.WithWatch, namespace string, w io.Writer, o getOptions) error {
	tty := false
	if f, ok := w.(*os.File); ok {
		tty = term.IsTerminal(int(f.Fd()))
	}
	for ctx.Err() == nil {
		err := watchOnce(ctx, cl, namespace, o, func(hosts []view.View) error {
			if tty {
				fmt.Fprint(w, "\033[H\033[2J")
			}
			return printHosts(w, hosts, o)
		}, tty)
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return nil
}

// watchOnce draws until the watch ends, which API servers do every few minutes.
func watchOnce(ctx context.Context, cl client.WithWatch, namespace string, o getOptions, draw func([]view.View) error, tick bool) error {
	watcher, err := cl.Watch(ctx, &metal3v1.BareMetalHostList{}, client.InNamespace(namespace))
	if err != nil {
		return fmt.Errorf("watch hosts: %w", err)
	}
	defer watcher.Stop()
	var clock <-chan time.Time
	if tick {
		ticker := time.NewTicker(refresh)
		defer ticker.Stop()
		clock = ticker.C
	}
	for {
		hosts, err := listHosts(ctx, cl, namespace, o)
		if err != nil {
			return err
		}
		if err := draw(hosts); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-clock:
		case event, ok := <-watcher.ResultChan():
			if !ok {
				return nil
			}
			if event.Object == nil {
				return errors.New("the API server ended the watch without a reason")
			}
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// refresh is how often a table on a terminal is drawn anew, so that times go on.
const refresh = time.Second

func newGet(c *connection) *cobra.Command {
	cmd := &cobra.Command{Use: "get", Short: "List hosts, clusters or agents"}
	shorts := map[string]string{
		hostKind.name:    "List hosts with phase, step, percent, time in phase and reason",
		clusterKind.name: "List clusters with state, percent, hosts and what they wait for",
		agentKind.name:   "List the hosts that have registered at the hub, with role, state and stage",
	}
	for _, k := range kinds {
		cmd.AddCommand(newGetKind(c, k, shorts[k.name]))
	}
	return cmd
}

// listing is one call of get.
type listing struct {
	connection *connection
	selection  selection
	output     *output
	watch      bool
	printer    printers.ResourcePrinter
	out, err   io.Writer
}

func newGetKind(c *connection, k kind, short string) *cobra.Command {
	l := listing{connection: c, selection: selection{kind: k}, output: newOutput()}
	cmd := &cobra.Command{
		Use: k.many + " [NAME...]", Aliases: append([]string{k.name}, k.aliases...), Short: short,
		ValidArgsFunction: c.complete(k, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.selection.names, l.out, l.err = args, cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := l.selection.check(false); err != nil {
				return err
			}
			var err error
			if l.printer, err = l.output.printer(); err != nil {
				return err
			}
			if l.watch {
				return l.keepUp(cmd.Context())
			}
			return l.once()
		},
	}
	l.selection.bind(cmd, "list")
	l.output.bind(cmd)
	cmd.Flags().BoolVarP(&l.watch, "watch", "w", false, "also show changes, until Ctrl-C; on a terminal, the table is kept up to date")
	completeOutput(cmd)
	return cmd
}

// once prints what there is.
func (l *listing) once() error {
	all, err := l.connection.find(l.selection)
	if err != nil {
		return err
	}
	if l.printer != nil {
		return l.printer.PrintObj(asOne(all, len(l.selection.names) == 1), l.out)
	}
	if len(all) == 0 {
		namespace, _, err := l.connection.space()
		fmt.Fprintln(l.err, l.selection.none(namespace))
		return err
	}
	return l.table(all, lines{headers: !l.output.noHeaders})
}

// lines are which lines of a table are printed.
type lines struct {
	headers bool
	// of has the keys of the objects whose lines are wanted; nil for all.
	of map[string]bool
}

// table prints the lines of these objects.
func (l *listing) table(all []*unstructured.Unstructured, which lines) error {
	width := terminalWidth(l.out)
	t, err := l.selection.kind.table(all, tableOptions{now: time.Now(), wide: *l.output.flags.OutputFormat == wide, bars: width > 0})
	if err != nil {
		return err
	}
	head := t.head
	if l.selection.all {
		head = append([]string{"NAMESPACE"}, head...)
	}
	if !which.headers {
		head = nil
	}
	var cells [][]string
	for _, r := range t.rows {
		if which.of != nil && !slices.ContainsFunc(r.keys, func(key string) bool { return which.of[key] }) {
			continue
		}
		if l.selection.all {
			r.cells = append([]string{r.namespace}, r.cells...)
		}
		cells = append(cells, r.cells)
	}
	return render.Lines(l.out, head, cells, width)
}

// keepUp prints what there is, and then what changes. A terminal shows the whole table all the time.
func (l *listing) keepUp(ctx context.Context) error {
	if len(l.selection.files) > 0 {
		return usage("--watch follows names and labels: leave --filename out")
	}
	cl, namespace, err := l.connection.open()
	if err != nil {
		return err
	}
	if l.selection.all {
		namespace = ""
	}
	f := follower{client: cl, namespace: namespace, selector: l.selection.selector}
	for _, m := range l.selection.kind.made {
		f.kinds = append(f.kinds, m.gvk)
	}
	w := watched{listing: l, known: map[string]*unstructured.Unstructured{}, redraw: l.printer == nil && isTerminal(l.out)}
	if w.redraw {
		clock := time.NewTicker(refresh)
		defer clock.Stop()
		f.tick = clock.C
	}
	if err := f.run(ctx, w.see); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // Ctrl-C is how it ends
}

// watched is a listing that is kept up to date.
type watched struct {
	*listing

	known  map[string]*unstructured.Unstructured
	redraw bool
	begun  bool
}

// see prints what has changed. A table on a terminal is drawn once a second, however much changes.
func (w *watched) see(changed, gone []*unstructured.Unstructured) (bool, error) {
	for _, o := range changed {
		w.known[keyOf(o)] = o
	}
	for _, o := range gone {
		delete(w.known, keyOf(o))
	}
	if w.redraw && w.begun && len(changed)+len(gone) > 0 {
		return false, nil
	}
	all, err := w.meant()
	if err != nil && !w.begun {
		return false, err
	}
	first := !w.begun
	w.begun = true
	switch {
	case w.redraw:
		fmt.Fprint(w.out, "\033[H\033[2J")
		return false, w.table(all, lines{headers: !w.output.noHeaders})
	case w.printer != nil:
		return false, w.objects(all, keys(changed))
	case first:
		return false, w.table(all, lines{headers: !w.output.noHeaders})
	}
	for _, o := range gone {
		fmt.Fprintf(w.err, "%s %s is not there any more\n", w.selection.kind.name, o.GetName())
	}
	if len(changed) == 0 {
		return false, nil
	}
	if w.selection.kind.named == nil { // then a line needs no other object than its own
		of := keys(changed)
		all = slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return !of[keyOf(o)] })
	}
	if len(all) == 0 {
		return false, nil
	}
	return false, w.table(all, lines{of: keys(changed)})
}

// meant are those of the known ones that were asked for, sorted.
func (w *watched) meant() ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, key := range slices.Sorted(maps.Keys(w.known)) {
		all = append(all, w.known[key])
	}
	switch names := w.selection.names; {
	case len(names) == 0:
		return all, nil
	case w.selection.kind.named != nil:
		return w.selection.kind.named(all, names)
	default:
		return slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return !slices.Contains(names, o.GetName()) }), nil
	}
}

// objects prints those of the keys, each by itself.
func (w *watched) objects(all []*unstructured.Unstructured, of map[string]bool) error {
	for _, o := range all {
		if !of[keyOf(o)] {
			continue
		}
		if err := w.printer.PrintObj(o, w.out); err != nil {
			return err
		}
	}
	return nil
}

func keys(list []*unstructured.Unstructured) map[string]bool {
	out := map[string]bool{}
	for _, o := range list {
		out[keyOf(o)] = true
	}
	return out
}

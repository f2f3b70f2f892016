package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// wide is the table with more columns.
const wide = "wide"

// formats are what --output takes.
var formats = []string{wide, "yaml", "json", "name", "jsonpath=TEMPLATE", customColumns + "HEADER:PATH,...", "go-template=TEMPLATE", "kyaml"}

// output is how objects are printed.
type output struct {
	flags     *genericclioptions.PrintFlags
	noHeaders bool
}

func newOutput() *output { return &output{flags: genericclioptions.NewPrintFlags("")} }

func (o *output) bind(cmd *cobra.Command) {
	o.flags.AddFlags(cmd)
	cmd.Flags().Lookup("output").Usage = "one of " + strings.Join(formats, ", ") + "; without it a table"
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "print tables without headers")
	for _, rare := range []string{"allow-missing-template-keys", "show-managed-fields", "template"} {
		_ = cmd.Flags().MarkHidden(rare) // the flag exists
	}
}

// printer is that of the objects themselves; nil for a table.
func (o *output) printer() (printers.ResourcePrinter, error) {
	format := *o.flags.OutputFormat
	switch {
	case format == wide, format == "" && *o.flags.TemplatePrinterFlags.TemplateArgument == "":
		return nil, nil //nolint:nilnil // a table is none
	case strings.HasPrefix(format, customColumns):
		return newColumns(strings.TrimPrefix(format, customColumns), !o.noHeaders)
	}
	p, err := o.flags.ToPrinter()
	switch {
	case genericclioptions.IsNoCompatiblePrinterError(err):
		return nil, usage("--output %q is none of %s", format, strings.Join(formats, ", "))
	case err != nil:
		return nil, usage("--output %q: %w", format, err)
	}
	return p, nil
}

// asOne is what a printer gets: one object where one was named, else a list.
func asOne(all []*unstructured.Unstructured, single bool) runtime.Object {
	if single && len(all) == 1 {
		return all[0]
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}}}
	for _, o := range all {
		list.Items = append(list.Items, *o)
	}
	return list
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

// isTerminal reports a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

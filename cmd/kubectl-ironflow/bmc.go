package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/cli"
	"github.com/ironflow/ironflow/bmc/quirks"
)

func newBMC(c *connection) *cobra.Command {
	cmd := &cobra.Command{Use: "bmc", Short: "What is known of the hosts' BMCs (needs the setting --bmc of ironflow)"}
	cmd.AddCommand(newBMCProbe(c), newBMCHealth(c), newBMCLog(c), newBMCQuirks(c), newBMCCheck(c))
	return cmd
}

// newBMCProbe asks for a new report and shows it.
func newBMCProbe(c *connection) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "probe HOST", Short: "Ask a host's BMC anew what it is and can do, and show the report", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			ctx, stop := context.WithTimeout(cmd.Context(), wait)
			defer stop()
			key := types.NamespacedName{Namespace: namespace, Name: args[0]}
			fmt.Fprintf(cmd.ErrOrStderr(), "asking the BMC of host %s\n", key.Name)
			report, err := probed(ctx, cl, key, time.Now().UTC().Format(time.RFC3339Nano))
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), report)
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 3*time.Minute, "how long to wait for the report")
	return cmd
}

// probed asks for a report and waits for it. A BMC that cannot be asked is an error
// that says why.
func probed(ctx context.Context, cl client.WithWatch, key types.NamespacedName, request string) (*ironflowv1.BMCReport, error) {
	host := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, names.Probe, request)
	if err := cl.Patch(ctx, host, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return nil, fmt.Errorf("host %s: %w", key.Name, err)
	}
	var list ironflowv1.BMCList
	watch, err := cl.Watch(ctx, &list, client.InNamespace(key.Namespace), client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", key.Name)})
	if err != nil {
		return nil, fmt.Errorf("watch the BMC of host %s: %w", key.Name, err)
	}
	defer watch.Stop()
	var last string
	for {
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("no report of host %s: is ironflow running with --bmc?", key.Name), errorOf(last))
		case event, open := <-watch.ResultChan():
			b, is := event.Object.(*ironflowv1.BMC)
			if !open {
				return nil, fmt.Errorf("the watch of host %s ended", key.Name)
			}
			if !is {
				continue
			}
			if b.Status.Probed != nil && b.Status.Probed.Request == request {
				return b.Status.Report, nil
			}
			if c := meta.FindStatusCondition(b.Status.Conditions, ironflowv1.Reachable); c != nil && c.Status == metav1.ConditionFalse {
				last = c.Message
			}
		}
	}
}

func errorOf(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

// newBMCHealth shows the last known health.
func newBMCHealth(c *connection) *cobra.Command {
	return &cobra.Command{
		Use: "health HOST", Short: "Show how the parts of a host's machine are", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.bmc(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return printHealth(cmd.OutOrStdout(), b)
		},
	}
}

func printHealth(out io.Writer, b *ironflowv1.BMC) error {
	if len(b.Status.Health) == 0 {
		fmt.Fprintf(out, "nothing is known of the health of %s yet\n", b.Name)
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "DOMAIN\tSTATE\tMESSAGE")
	for _, d := range b.Status.Health {
		fmt.Fprintf(t, "%s\t%s\t%s\n", d.Domain, d.State, d.Message)
	}
	return t.Flush()
}

// newBMCQuirks shows the table of quirks, or those of a host.
func newBMCQuirks(c *connection) *cobra.Command {
	return &cobra.Command{
		Use: "quirks [HOST]", Short: "Show how a host's BMC differs from what Redfish says, or all that is known of BMCs", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return printRows(cmd.OutOrStdout(), quirks.New().Rows())
			}
			b, err := c.bmc(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return printApplied(cmd.OutOrStdout(), b)
		},
	}
}

func printRows(out io.Writer, rows []quirks.Row) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tVENDOR\tMODEL\tEFFECT\tADVICE")
	for i := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", rows[i].ID, rows[i].Vendor, rows[i].Model, rows[i].Effect, rows[i].Advice)
	}
	return t.Flush()
}

func printApplied(out io.Writer, b *ironflowv1.BMC) error {
	if b.Status.Report == nil || len(b.Status.Report.Quirks) == 0 {
		fmt.Fprintf(out, "no row of the table of quirks applies to the BMC of %s\n", b.Name)
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tBY\tEFFECT\tADVICE")
	for _, q := range b.Status.Report.Quirks {
		by := "you"
		if q.Applied {
			by = "Ironflow"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", q.ID, by, q.Effect, q.Advice)
	}
	return t.Flush()
}

// bmc reads the BMC of a host.
func (c *connection) bmc(ctx context.Context, host string) (*ironflowv1.BMC, error) {
	cl, namespace, err := c.open()
	if err != nil {
		return nil, err
	}
	b := &ironflowv1.BMC{}
	err = cl.Get(ctx, types.NamespacedName{Namespace: namespace, Name: host}, b)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("host %s has no BMC: it was not registered yet, or ironflow runs without --bmc", host)
	}
	return b, err
}

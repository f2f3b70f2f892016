package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/cli"
	"github.com/ironflow/ironflow/bmc/quirks"
)

func newBMC(c *connection) *cobra.Command {
	cmd := &cobra.Command{Use: "bmc", Short: "Show what the BMCs of hosts have reported (needs ironflow's setting --bmc)"}
	cmd.AddCommand(newBMCProbe(c), newBMCHealth(c), newBMCLog(c), newBMCQuirks(c), newBMCCheck(c))
	return cmd
}

const probeLong = `Has the BMC of a host read again, waits for the new report and shows what the BMC is and can do. It ends early when only a person
can help: the credentials are refused, the address is not one of Redfish, or the host is paused or on hold.

Exit codes: 0 there is a new report; 3 only a person can help; 4 there was none within --wait.`

// newBMCProbe asks for a new report and shows it.
func newBMCProbe(c *connection) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "probe HOST", Short: "Have a host's BMC read again, and show what it is and can do", Long: probeLong,
		Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete(hostKind, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bare, err := hostKind.bare(args)
			if err != nil {
				return err
			}
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			ctx, stop := context.WithTimeoutCause(cmd.Context(), wait, errTimeout)
			defer stop()
			p := probing{client: cl, key: types.NamespacedName{Namespace: namespace, Name: bare[0]}, request: time.Now().UTC().Format(time.RFC3339Nano), wait: wait}
			fmt.Fprintf(cmd.ErrOrStderr(), "asking the BMC of host %s\n", p.key.Name)
			report, err := p.run(ctx)
			if err != nil {
				return err
			}
			return cli.PrintReport(cmd.OutOrStdout(), report)
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 3*time.Minute, "how long to wait for the report")
	return cmd
}

// newBMCHealth shows the last known health.
func newBMCHealth(c *connection) *cobra.Command {
	return &cobra.Command{
		Use: "health HOST", Short: "Show the health of the parts of a host's machine", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete(hostKind, 1),
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
		Use: "quirks [HOST]", Short: "Show the known deviations of a host's BMC from the Redfish standard or, without HOST, of all BMCs",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: c.complete(hostKind, 1),
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
	bare, err := hostKind.bare([]string{host})
	if err != nil {
		return nil, err
	}
	cl, namespace, err := c.open()
	if err != nil {
		return nil, err
	}
	b := &ironflowv1.BMC{}
	err = cl.Get(ctx, types.NamespacedName{Namespace: namespace, Name: bare[0]}, b)
	if apierrors.IsNotFound(err) {
		return nil, exitError{fmt.Errorf("host %s has no BMC: it was not registered yet, or ironflow runs without --bmc; see kubectl ironflow why %s", bare[0], bare[0]), exitPerson}
	}
	return b, err
}

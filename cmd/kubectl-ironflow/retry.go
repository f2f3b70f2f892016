package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// hostVerb is a command that sets an annotation of hosts, or takes it away.
type hostVerb struct {
	use, short, long string
	// patch is the merge patch, said what is told of each host.
	patch func() []byte
	said  string
}

// retry, hold and release are the commands of their names.
var (
	retry = hostVerb{
		use: "retry", short: "Try again now what failed on hosts", said: "trying again",
		long: "Tries again now what failed on these hosts (annotation ironflow.io/retry). Without this command, Ironflow tries again after pauses\n" +
			"that grow; a deployment is not tried again after as many failures in a row as ironflow's --max-provisioning-retries says.",
		patch: func() []byte { return annotation(names.Retry, time.Now().UTC().Format(time.RFC3339Nano)) },
	}
	hold = hostVerb{
		use: "hold", short: "Stop all automatic actions on hosts, until they are released", said: "on hold",
		long: "Stops all automatic actions on these hosts (annotation ironflow.io/hold), until \"kubectl ironflow release\". What Ironic is doing\n" +
			"already goes on to its end; after that, nothing is started. Machines that run keep running.",
		patch: func() []byte { return annotation(names.Hold, "") },
	}
	release = hostVerb{
		use: "release", short: "Resume automatic actions on hosts that are on hold", said: "released",
		patch: func() []byte { return fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, names.Hold) },
	}
)

// annotation is a merge patch that sets one.
func annotation(name, value string) []byte {
	return fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, name, value)
}

func (v hostVerb) command(c *connection) *cobra.Command {
	s := selection{kind: hostKind}
	cmd := &cobra.Command{
		Use: v.use + " HOST... | -l LABELS | -f FILE", Short: v.short, Long: v.long, ValidArgsFunction: c.complete(hostKind, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.names = args
			if err := s.check(true); err != nil {
				return err
			}
			hosts, err := c.hosts(s)
			if err != nil {
				return err
			}
			cl, _, err := c.open()
			if err != nil {
				return err
			}
			return v.run(cmd.Context(), cl, hosts, cmd.OutOrStdout())
		},
	}
	s.bind(cmd, v.use)
	return cmd
}

// run changes each host. What fails does not keep the others away.
func (v hostVerb) run(ctx context.Context, cl client.Client, hosts []metal3v1.BareMetalHost, out io.Writer) error {
	var problems []error
	for i := range hosts {
		if err := cl.Patch(ctx, &hosts[i], client.RawPatch(types.MergePatchType, v.patch())); err != nil {
			problems = append(problems, fmt.Errorf("host %s: %w", hosts[i].Name, err))
			continue
		}
		fmt.Fprintf(out, "host %s: %s\n", hosts[i].Name, v.said)
	}
	return errors.Join(problems...)
}

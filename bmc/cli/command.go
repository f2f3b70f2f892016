// Package cli holds the commands that work on BMCs without a cluster: `ironflow bmc
// probe` reads what BMCs are and can, one or many at once; health, log and events look
// at one. Nothing is written to them.
//
// Results are for people (tables, a summary by vendor and model) or for programs
// (the report of the API as JSON or YAML). The main function is [NewCommand].
package cli

import (
	"github.com/spf13/cobra"
)

// NewCommand returns the "bmc" command with its subcommands.
func NewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bmc",
		Short: "Read from BMCs over Redfish, without a cluster",
		Long:  "Reads from BMCs over Redfish, such as before a host is registered: what they are and can do, the health and the logs of their machines, and events.",
	}
	c.AddCommand(probeCommand(), healthCommand(), logCommand(), eventsCommand())
	return c
}

const probeLong = `Reads over Redfish what BMCs are and what they can do: vendor, versions, each capability with what proved it, the
quirks that apply, clock, certificate, sessions, storage, firmware and what waits to be done. Nothing is changed.

An address is a host name or IP address, https://HOST[:PORT], or one of spec.bmc.address as
redfish-virtualmedia://HOST/redfish/v1/Systems/1. The password is never an argument: it comes from --password-file
or from the environment variable IRONFLOW_BMC_PASSWORD.

Exit codes: 0 all BMCs were probed; 1 one of them was not, or the question was wrong.`

func probeCommand() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "probe [--file LIST] [ADDRESS...]",
		Short: "Show what BMCs are and what they can do; changes nothing",
		Long:  probeLong,
		Example: `  IRONFLOW_BMC_PASSWORD=... ironflow bmc probe --username root --insecure 192.0.2.10
  ironflow bmc probe --username root --password-file pass --ca-file bmcs.pem --file racks.txt --output json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := s.complete(args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			return job.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.access(c)
	s.limit(c)
	f := c.Flags()
	f.StringVar(&s.file, "file", "", "file with addresses of BMCs, one a line; - is the standard input")
	f.StringVarP(&s.output, "output", "o", outputTable, "table, json or yaml")
	f.IntVar(&s.parallel, "parallel", 20, "maximum number of BMCs that are probed concurrently")
	f.IntVar(&s.requests, "requests", 0, "maximum number of requests to each BMC; 0 for 30, -1 for as many as reading every drive and firmware entry takes")
	f.BoolVar(&s.expand, "expand", false, "read lists with their members in one request ($expand), where the BMC supports it and no quirk is known that forbids it")
	return c
}

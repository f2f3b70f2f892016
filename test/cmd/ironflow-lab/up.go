package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// stopPatience is how long all parts together may take to stop by themselves.
const stopPatience = 30 * time.Second

// upFlags are the flags of up.
type upFlags struct {
	stateDir, cacheDir string
	notifier           string
	apiPort            int
	ironicPort         int
	bmcPort            int
	systems            int
	simulated          int
}

// newUpCommand starts all parts and stays.
func newUpCommand() *cobra.Command {
	var flags upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring up the Kubernetes API, Ironic and BMCs alone, without Ironflow, and stay until Ctrl-C",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return up(cmd.Context(), flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.stateDir, "state-dir", "", "`folder` of state and logs (default a temporary one, removed at the end)")
	f.StringVar(&flags.cacheDir, "cache-dir", "", "`folder` of builds (default $IRONFLOW_CACHE, or ironflow in the user's cache folder)")
	f.StringVar(&flags.notifier, "notifier", "", "`URL` that is told about power, boot and media changes before they are made (default nobody)")
	f.IntVar(&flags.apiPort, "api-port", 0, "port of the Kubernetes API on 127.0.0.1; 0 takes a free one")
	f.IntVar(&flags.ironicPort, "ironic-port", 0, "port of Ironic on 127.0.0.1; 0 takes a free one")
	f.IntVar(&flags.bmcPort, "bmc-port", 0, "port of the BMCs on 127.0.0.1; 0 takes a free one")
	f.IntVar(&flags.systems, "systems", 3, "number of machines behind the BMCs")
	f.IntVar(&flags.simulated, "simulated", 0, "number of further machines behind simulated BMCs, which have RAID, BIOS settings, firmware updates and events")
	return cmd
}

// up runs the lab until the context ends.
func up(ctx context.Context, flags upFlags, out, log io.Writer) error {
	options := everything(flags.cacheDir)
	options.StateDir, options.Progress = flags.stateDir, progress.Lines(log)
	options.ControlPlane.Port, options.Ironic.Port, options.Emulator.Port = flags.apiPort, flags.ironicPort, flags.bmcPort
	options.Emulator.NotifierURL = flags.notifier
	options.Emulator.Systems = systems(flags.systems)
	if flags.simulated > 0 {
		options.Redfish = &lab.RedfishOptions{NotifierURL: flags.notifier, Systems: simulated(flags.systems, flags.simulated)}
	}
	l, err := lab.Start(ctx, options)
	if err != nil {
		return err
	}
	describe(out, l, options)
	<-ctx.Done()
	_, _ = fmt.Fprintln(log, "stopping")
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	if err := l.Stop(stopping); err != nil {
		return err
	}
	if left := l.Processes(); len(left) > 0 {
		return fmt.Errorf("processes are left: %v", left)
	}
	return nil
}

// systems are n machines with names, ids and addresses that follow from their number.
func systems(n int) []emulator.System {
	list := make([]emulator.System, n)
	for i := range list {
		list[i] = emulator.System{
			UUID: fmt.Sprintf("00000000-0000-4000-8000-%012x", i),
			Name: fmt.Sprintf("host-%d", i),
			NICs: []emulator.NIC{{MAC: fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16&0xff, i>>8&0xff, i&0xff)}},
		}
	}
	return list
}

// simulated are the n machines behind simulated BMCs that follow the first ones.
func simulated(first, n int) []simulator.System {
	var list []simulator.System
	for _, s := range systems(first + n)[first:] {
		list = append(list, simulator.System{ID: s.UUID, Name: s.Name, NICs: []simulator.NIC{{MAC: s.NICs[0].MAC}}})
	}
	return list
}

// describe says where everything is.
func describe(out io.Writer, l *lab.Lab, options lab.Options) {
	lines := []string{
		"The lab is up. Ctrl-C stops it.",
		"",
		"Kubernetes   export KUBECONFIG=" + l.ControlPlane.Kubeconfig + " PATH=" + l.ControlPlane.AssetsDir + ":$PATH",
		fmt.Sprintf("Ironic       curl --cacert %s --user %s:%s %s/v1/nodes", l.CAFile, l.Ironic.User, l.Ironic.Password, l.Ironic.URL),
		fmt.Sprintf("BMCs         curl --cacert %s --user %s:%s %s/redfish/v1/Systems", l.CAFile, l.Emulator.User, l.Emulator.Password, l.Emulator.URL),
	}
	for _, system := range options.Emulator.Systems {
		lines = append(lines, fmt.Sprintf("             %s  %s  %s", system.Name, system.NICs[0].MAC, l.Emulator.Address(system.UUID)))
	}
	if r := l.Redfish; r != nil {
		lines = append(lines, fmt.Sprintf("Simulated    curl --cacert %s --user %s:%s %s/redfish/v1/Systems", l.CAFile, r.User, r.Password, r.URL))
		for _, system := range options.Redfish.Systems {
			lines = append(lines, fmt.Sprintf("             %s  %s  %s", system.Name, system.NICs[0].MAC, r.Address(system.ID)))
		}
	}
	lines = append(lines, "Logs         "+l.Dir+"/log")
	// Should nobody read, the lab stays up all the same.
	_, _ = fmt.Fprintln(out, strings.Join(lines, "\n"))
}

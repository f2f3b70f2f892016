package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ironflow/ironflow/test/demo"
)

// newDemoCommand shows the whole flow.
func newDemoCommand() *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Take simulated machines from BMC address to installed host, and back with --once",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := here(&o); err != nil {
				return err
			}
			if o.Terminal = term.IsTerminal(int(os.Stdout.Fd())); o.Terminal {
				o.Width, _, _ = term.GetSize(int(os.Stdout.Fd()))
			}
			// Nobody is there to press Ctrl-C.
			o.Once = o.Once || !o.Terminal
			return demo.Run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Hosts, "hosts", 3, "number of machines")
	f.BoolVar(&o.Once, "once", false, "go on by itself: give every host back, check that nothing is left, end with one JSON line")
	f.BoolVar(&o.Edge, "edge", false, "show a cluster that installs itself: hosts that boot one image, one of which is the hub; end with one JSON line")
	f.BoolVar(&o.Machine, "machine", false, "make the first host a whole virtual machine with firmware, kernel and disk; needs root, and this source tree as the working folder")
	f.StringVar(&o.Fault, "fault", "", "show a failure and its recovery: "+strings.Join(demo.Faults(), ", "))
	f.IntVar(&o.Kills, "kill", 0, "kill ironflow with SIGKILL that many times at random moments")
	f.StringVar(&o.StateDir, "state-dir", "", "`folder` of state and logs (default a temporary one, removed after success)")
	f.StringVar(&o.BinDir, "bin-dir", "", "`folder` of the programs (default where this program is)")
	return cmd
}

// here fills in where the programs and the source tree are, and who reads.
func here(o *demo.Options) (err error) {
	if o.BinDir == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the folder of the programs: %w; name it with --bin-dir", err)
		}
		o.BinDir = filepath.Dir(self)
	}
	o.Out = os.Stdout
	o.Source, err = os.Getwd()
	return err
}

// newSiteCommand is for a person with a second terminal.
func newSiteCommand() *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Bring up a site to work on by kubectl: what `up` does, with Ironflow and machines that can be installed",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := here(&o); err != nil {
				return err
			}
			return demo.Stay(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Hosts, "hosts", 3, "number of machines")
	f.StringVar(&o.StateDir, "state-dir", "", "`folder` of state and logs (default a temporary one, removed at the end)")
	f.StringVar(&o.BinDir, "bin-dir", "", "`folder` of the programs (default where this program is)")
	return cmd
}

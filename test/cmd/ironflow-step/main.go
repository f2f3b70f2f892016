// Command ironflow-step is the step program of the lab: the shipped one, and
// with IRONFLOW_STANDIN_BIN set a stand-in for systemd on machines that have none.
package main

import (
	"os"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/cli"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/test/systemd/standin"
)

func main() { os.Exit(cli.Main(units)) }

// units returns the stand-in when its environment variable is set, and the
// host's systemd otherwise.
func units(host hostfile.Dir) (units systemd.Manager, end func()) {
	if dir := os.Getenv(standin.BinEnv); dir != "" {
		simulated := standin.New(host, dir)
		return simulated, simulated.Close
	}
	return cli.Systemd(host)
}

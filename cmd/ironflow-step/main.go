// Command ironflow-step runs Ironic's deploy steps on a host in its live image.
//
//	ironflow-step list          prints the steps as the IPA plugin needs them
//	ironflow-step STEP          runs one: JSON on stdin, JSON lines on stdout
//	ironflow-step set-hostname  names a host that has no name yet
package main

import (
	"os"

	"github.com/ironflow/ironflow/customdeploy/cli"
)

func main() { os.Exit(cli.Main(cli.Systemd)) }

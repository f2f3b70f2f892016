// Command ironflow-agent is what runs on a bare machine in the live image: one
// static binary with many names (see package cli).
package main

import (
	"context"
	"os"

	"github.com/ironflow/ironflow/agent/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args))
}

// Command ironflow-agent is what runs on a bare machine in the live image: one
// static binary with many names (see package cli).
package main

import (
	"context"
	"os"

	"github.com/ironflow/ironflow/agent/cli"
)

func main() {
	ctx, stop := cli.Signals(context.Background())
	code := cli.Main(ctx, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args)
	stop()
	os.Exit(code)
}

// Command ironflow-agent is what runs on a bare machine in the live image: one
// static binary with many names (see packages cli and program).
package main

import (
	"context"
	"os"

	"github.com/ironflow/ironflow/agent/cli"
	"github.com/ironflow/ironflow/agent/program"
)

func main() {
	ctx, stop := program.Signals(context.Background())
	code := cli.Main(ctx, program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args)
	stop()
	os.Exit(code)
}

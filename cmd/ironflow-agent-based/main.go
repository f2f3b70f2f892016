// Command ironflow-agent-based is what the hosts of an agent-based installation run
// beside the agent: the programs of its units, and its client (see package programs).
package main

import (
	"context"
	"os"

	"github.com/ironflow/ironflow/agent/agentbased/programs"
	"github.com/ironflow/ironflow/agent/program"
)

func main() {
	ctx, stop := program.Signals(context.Background())
	code := programs.Main(ctx, program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args)
	stop()
	os.Exit(code)
}

// Command ironflow-cluster runs inside a cluster that the hub installs: it approves the
// signing requests of its hosts, reports nodes and operators, and completes (see
// package cluster/cli).
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ironflow/ironflow/cluster/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/handover"
	"github.com/ironflow/ironflow/agent/inventory"
	"github.com/ironflow/ironflow/agent/inventory/gpus"
	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/source"
)

const (
	// exitFailed is -1 as a process sees it: what callers of older images expect.
	exitFailed = 255
	// exitConfig is for a dry run that cannot be set up.
	exitConfig = 1
)

// runAgent is agent, and next_step_runner, which needs --host-id.
func runAgent(ctx context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "")
	n := networkFlags(c)
	if code, done := c.Parse(s, args); done {
		return code
	}
	log, ring, closeLog := logging.Setup(c.Logs)
	defer closeLog()
	config := n.config(c)
	config.Log, config.OwnLog = log, ring.Bytes
	config.Image = thisProcess(c, config.AgentVersion, args, log)
	if name == "next_step_runner" {
		if config.HostID = n.host; config.HostID == "" {
			log.Error("--host-id is required")
			return service.ExitUsage
		}
	}
	if n.infraEnv == "" && n.cluster != "" {
		log.Info("no --infra-env-id; the cluster's id is taken for it", "cluster", n.cluster)
	}
	return service.Run(ctx, config)
}

// thisProcess is how the process hands over to the agent of another image. A dry
// run, and a pretended host in a folder, stay what they are.
func thisProcess(c *program.Common, agentVersion string, args []string, log *slog.Logger) handover.Handover {
	h := handover.Handover{
		Running: handover.Running(agentVersion), Args: args, Dir: c.Logs.Dir, Log: log,
		Commands: command.Host{Dir: c.Logs.Dir, Log: log},
	}
	if !c.Dry.Enabled && c.Logs.Dir.Path("/") == "/" {
		h.Exec = syscall.Exec
	}
	return h
}

// runInventory prints the inventory.
func runInventory(ctx context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "")
	var options inventory.Options
	gpuConfig := c.Set.String("gpu-config-file", "", "YAML file that lists which PCI devices count as GPUs; empty: a built-in list")
	c.Set.Int64Var(&options.OutputMaxSize, "output-max-size", 0, "maximum size of the inventory, in bytes; 0 for no limit")
	c.Set.Int64Var(&options.DiskMinSize, "disk-min-size", 0, "leave out disks that are smaller, in bytes; 0 for none")
	if code, done := c.Parse(s, args); done {
		return code
	}
	log, _, closeLog := logging.Setup(c.Logs)
	defer closeLog()
	machine, err := c.Dry.Machine()
	if err != nil {
		log.Error("the dry run cannot be set up", "error", err)
		return exitConfig
	}
	accelerators, err := gpus.LoadConfig(hostPath(c.Logs.Dir, *gpuConfig))
	if err != nil {
		log.Error("the GPU configuration cannot be used", "error", err)
		return exitConfig
	}
	collectors := inventory.Machine(source.Live(c.Logs.Dir), accelerators)
	if machine != nil {
		collectors = inventory.Scenario(machine)
	}
	inv, err := inventory.Gather(ctx, append(collectors, inventory.Forced(c.Dry)...), log)
	if err != nil {
		log.Error("no inventory", "error", err)
		return exitFailed
	}
	raw, err := inventory.Print(inv, options)
	if err != nil {
		log.Error("no inventory", "error", err)
		return exitFailed
	}
	fmt.Fprintln(s.Out, string(raw))
	return 0
}

// runWriteReason is the unit's ExecStopPost.
func runWriteReason(_ context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "")
	if code, done := c.Parse(s, args); done {
		return code
	}
	if err := outcome.WriteReason(c.Logs.Dir, os.Getenv); err != nil {
		fmt.Fprintln(s.Err, "the reason file:", err)
		return exitFailed
	}
	return 0
}

// hostPath is where an optional file of the host lies.
func hostPath(dir hostfile.Dir, path string) string {
	if path == "" {
		return ""
	}
	return dir.Path(path)
}

package main

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/controllers/parts/hub"
	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/diskcopy/keep"
)

// newAgentBasedCommand is the hub of an installation without a hub outside: one process
// with its own store, and nothing beside it.
func newAgentBasedCommand() *cobra.Command {
	var s nodeZero
	cmd := &cobra.Command{
		Use:   "agent-based",
		Short: "Run the hub of an agent-based installation, on one of the hosts that it installs (for the live image)",
		Long: `Runs the hub's REST API on the rendezvous host of an agent-based installation, with the settings that
assisted-service.service hands in as environment variables. All that it knows is in the data folder: it can be killed
and started again at any moment. It installs one cluster, its own host last, and ends with that host's live system.
That folder is in memory. Once another host has left for its disk, a sealed copy of the state is kept at the end of the
disk that this host will be installed to, and an empty data folder is filled from there, if the image has the same settings.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.complete(); err != nil {
				return err
			}
			return runAgentBased(cmd.Context(), s)
		},
	}
	addSettings(cmd, &s.IronflowConfiguration, s.table())
	tellingFailures(cmd)
	return cmd
}

// runAgentBased serves until ctx ends.
func runAgentBased(ctx context.Context, s nodeZero) error {
	log := parts.NewSlog(s.Monitoring.LogLevel)
	log.Info("ironflow hub agent-based", "version", version.Release(), "url", s.Hub.PublishURL, "infra_env", s.hub.Host.InfraEnvID, "mac", s.hub.Host.MAC)
	p := &parts.Program{Settings: s.IronflowConfiguration}
	console, ofCopy := newHubConsole(log), newHubConsole(log)
	kept, err := keep.New(keep.Options{
		InfraEnvID: s.hub.Host.InfraEnvID, Secret: os.Getenv(places.UserToken), Settings: s.digest, Host: hostfile.FromEnv(),
		Backup: backup.Options{DataDir: s.Store.DataDir, Place: configured.Place(s.Store)}, Log: log,
		Tell: func(ctx context.Context, trouble error) {
			ofCopy.tell(ctx, messages.SlotHubCopy, messages.HubCopyStale, trouble)
		},
	})
	if err != nil {
		return err
	}
	var start keep.Start
	var server *hub.Server
	err = p.Exclusively(func() error {
		if start, err = kept.Restore(ctx); err != nil {
			return err
		}
		tellPassedOver(ctx, hostfile.FromEnv(), log, start.PassedOver)
		if err := s.makeLocalKey(); err != nil {
			return err
		}
		if err := p.Publish(); err != nil {
			return err
		}
		server, err = hub.New(ctx, hub.Options{Settings: p.Settings, Cert: p.Cert, NodeZero: s.hub, Log: log.With("logger", "hub")})
		return err
	})
	if err != nil {
		return err
	}
	if start.From != "" {
		if err := server.Core.Resumed(ctx, start.From); err != nil {
			return err
		}
	}
	server.Around = kept.Before
	server.Started = func() { console.tell(ctx, messages.SlotHub, messages.HubFailed, nil) }
	ctx, stop := context.WithCancel(ctx)
	go kept.Run(ctx, server.Core)
	defer func() {
		stop()
		<-kept.Ended()
	}()
	return server.Serve(ctx, p.Settings.Hub.Address, p.Settings.Hub.PlainAddress)
}

// tellPassedOver says on the console, from where it comes to the events, that the hub has not gone
// on from the state that an image with other settings has left on the disks.
func tellPassedOver(ctx context.Context, dir hostfile.Dir, log *slog.Logger, disks []string) {
	if len(disks) == 0 {
		return
	}
	console := &messages.Console{Dir: dir, Commands: command.Host{Dir: dir, Log: log}, Log: log}
	console.Show(ctx, messages.HubStatePassedOver, strings.Join(disks, ", "))
}

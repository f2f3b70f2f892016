package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/agent/agentbased/places"
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
disk that this host will be installed to, and an empty data folder is filled from there.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.complete(); err != nil {
				return err
			}
			return runAgentBased(cmd.Context(), s)
		},
	}
	addSettings(cmd, &s.IronflowConfiguration, s.table())
	return cmd
}

// runAgentBased serves until ctx ends.
func runAgentBased(ctx context.Context, s nodeZero) error {
	log := parts.NewSlog(s.Monitoring.LogLevel)
	log.Info("ironflow hub agent-based", "version", version.Release(), "url", s.Hub.PublishURL, "infra_env", s.hub.Host.InfraEnvID, "mac", s.hub.Host.MAC)
	p := &parts.Program{Settings: s.IronflowConfiguration}
	kept, err := keep.New(keep.Options{
		InfraEnvID: s.hub.Host.InfraEnvID, Secret: os.Getenv(places.UserToken), Host: hostfile.FromEnv(), Backup: backup.Options{DataDir: s.Store.DataDir, Place: configured.Place(s.Store)}, Log: log,
	})
	if err != nil {
		return err
	}
	from := ""
	var server *hub.Server
	err = p.Exclusively(func() error {
		if from, err = kept.Restore(ctx); err != nil {
			return err
		}
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
	if from != "" {
		if err := server.Core.Resumed(ctx, from); err != nil {
			return err
		}
	}
	server.Around = kept.Before
	ctx, stop := context.WithCancel(ctx)
	go kept.Run(ctx, server.Core)
	defer func() {
		stop()
		<-kept.Ended()
	}()
	return server.Serve(ctx, p.Settings.Hub.Address, p.Settings.Hub.PlainAddress)
}

// Package command is the command line of making images for an agent-based installation:
// flags, the base image, the host's programs, and what is printed. What an image is made of
// is package image's.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// settings are the flags of create.
type settings struct {
	dir, out, base, arch, programs string
	installer                      string
	workflow, format               string
	release, rendezvous, artifacts string
	lifetime                       time.Duration
	lenient, dryRun, json          bool

	kubernetes image.Authorities
	hub        Hub
}

// Hub is what is known of the hub of an image by whoever wires the program.
type Hub struct {
	// Rules are what it refuses of its client, Settings what it does not take itself.
	Rules    image.Rules
	Settings image.HubSettings
}

// New makes the command. Certificates of a plain Kubernetes are made by kubernetes; hub says what
// the image's hub would not take.
func New(kubernetes image.Authorities, hub Hub) *cobra.Command {
	s := settings{kubernetes: kubernetes, hub: hub}
	cmd := &cobra.Command{
		Use:   "create --dir DIR [flags]",
		Short: "Make the image that all hosts of an agent-based installation boot, or the config image of an appliance",
		Long: "Make the image that all hosts of an agent-based installation boot, or the config image of an appliance.\n\n" +
			"DIR has install-config.yaml and agent-config.yaml, or the folder cluster-manifests, or, for hosts that join a running\n" +
			"cluster, nodes-config.yaml, add-nodes.env, pull-secret.json and the folder clusterconfig; besides, if wanted, the folders\n" +
			"openshift (extra manifests), hostconfig (folders of hosts, beside cluster-manifests) and mirror (registries.conf,\n" +
			"ca-bundle.crt), and hub.env (further settings of the hub). All of it is checked before anything is written.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.dir, "dir", "", "folder with the input (required)")
	flags.StringVar(&s.out, "output-dir", "", "folder to write to; empty for the same")
	flags.StringVar(&s.base, "base-image", "", "live ISO of CoreOS, or a folder of them; not for a config image")
	flags.StringVar(&s.arch, "arch", "", "architecture of the hosts, if there are base images for several")
	flags.StringVar(&s.programs, "host-programs", "", "folder with ironflow, ironflow-agent, ironflow-agent-based and ironflow-step for the hosts, and for other architectures in subfolders such as aarch64; empty: the folder of this program")
	flags.StringVar(&s.installer, "openshift-install", "", "path of the program openshift-install of the release, which is packed into the image, so that the hub can make the Ignition configs of the installed hosts with it")
	flags.StringVar(&s.workflow, "workflow", string(units.Automated), "automated for an image with all settings, appliance for a factory image whose settings come later with a config image, or addnodes for hosts that join a running cluster")
	flags.StringVar(&s.format, "format", "", "iso, minimal-iso, pxe-files or config-image; empty for what the input asks for")
	flags.StringVar(&s.release, "release-image", "", "release image to install, if no manifest names it")
	flags.StringVar(&s.rendezvous, "rendezvous-ip", "", "IP address of the host that runs the hub (rendezvous host), if no file names it; empty: the first static address")
	flags.StringVar(&s.artifacts, "boot-artifacts-url", "", "URL at which the files of the folder boot-artifacts will be served, if no file names it")
	flags.DurationVar(&s.lifetime, "token-lifetime", 0, "how long hosts can join a running cluster by this image (workflow addnodes only); 0 for 48 h; tokens of other workflows do not expire")
	flags.BoolVar(&s.lenient, "lenient", false, "only warn of fields that have no effect, instead of refusing them")
	flags.BoolVar(&s.dryRun, "dry-run", false, "check everything and say what each host will be; write nothing")
	flags.BoolVar(&s.json, "json", false, "print what each host will be as JSON")
	if err := cmd.MarkFlagRequired("dir"); err != nil {
		panic(err) //nolint:forbidigo // the flag was added above
	}
	return cmd
}

func (s *settings) run(ctx context.Context, stdout, stderr io.Writer) error {
	if s.out == "" {
		s.out = s.dir
	}
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return err
	}
	o := image.Options{
		Dir: dir, Workflow: units.Workflow(s.workflow), Format: image.Format(s.format),
		ReleaseImage: s.release, RendezvousIP: s.rendezvous, BootArtifactsURL: s.artifacts, TokenLifetime: s.lifetime, Lenient: s.lenient,
		Live: network.Live{Nmstatectl: true}, Installer: s.installer != "", Rules: s.hub.Rules, HubSettings: s.hub.Settings,
	}
	s.checkInstaller(&o)
	medium := s.medium(ctx, &o)
	programs := s.hostPrograms(&o, medium)
	plan, warnings, err := image.Read(o)
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning:", w)
	}
	if err != nil {
		return err
	}
	if err := plan.CheckFolder(s.out); err != nil {
		return err
	}
	if err := s.tell(plan, stdout); err != nil || s.dryRun {
		return err
	}
	return s.build(ctx, plan, medium, programs, stdout)
}

// tell prints what each host will be.
func (s *settings) tell(plan *image.Plan, w io.Writer) error {
	if s.json {
		return plan.Summary().JSON(w)
	}
	return plan.Summary().Text(w)
}

func problem(o *image.Options, flag, format string, args ...any) {
	o.Problems = append(o.Problems, manifests.Problem{File: flag, Text: fmt.Sprintf(format, args...)})
}

// medium opens the base image; nil where there is none to be used, which has been told.
func (s *settings) medium(ctx context.Context, o *image.Options) *media.Medium {
	switch {
	case o.Format == image.ConfigImage:
		if s.base != "" {
			problem(o, "--base-image", "is given, and a config image has no system: leave it out")
		}
		return nil
	case s.base == "":
		problem(o, "--base-image", "is not given: write the path of a live ISO of CoreOS")
		return nil
	}
	registry, err := media.Open(ctx, s.base, media.Options{})
	if err != nil {
		problem(o, "--base-image", "cannot be used: %v", err)
		return nil
	}
	m, err := registry.Select(ctx, s.arch, "")
	if err != nil {
		problem(o, "--base-image", "has none that fits: %v", err)
		return nil
	}
	if customized, err := image.Customized(m.Media()); err != nil || customized {
		problem(o, "--base-image", "is customized already, by a program like this one: give the medium as it was released, or make one by ironflow image reset")
	}
	o.Arch = m.Arch
	o.Live.Nmstatectl, o.Live.Why = m.Nmstatectl()
	return m
}

// hostPrograms is the folder of the programs that the base image's hosts need.
func (s *settings) hostPrograms(o *image.Options, m *media.Medium) string {
	if m == nil {
		return ""
	}
	dir := s.programs
	if dir == "" {
		self, err := os.Executable()
		if err != nil {
			problem(o, "--host-programs", "is not given, and this program's folder is not known: %v", err)
			return ""
		}
		dir = filepath.Dir(self)
	}
	if err := hostprograms.Complete(dir, m.Arch, hostprograms.AgentBased()...); err != nil {
		problem(o, "--host-programs", "cannot be used: %v", err)
	}
	return dir
}

// maxInstaller bounds the program openshift-install: what a host keeps in memory.
const maxInstaller = 2 << 30

// checkInstaller wants a program that can be packed.
func (s *settings) checkInstaller(o *image.Options) {
	if s.installer == "" {
		return
	}
	switch info, err := os.Stat(s.installer); {
	case err != nil:
		problem(o, "--openshift-install", "cannot be used: %v", err)
	case !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxInstaller:
		problem(o, "--openshift-install", "is no file of a program: %s is not regular, is empty, or is larger than 2 GiB", s.installer)
	}
}

// build writes the image. The programs' archive is needed for as long as that takes.
func (s *settings) build(ctx context.Context, plan *image.Plan, m *media.Medium, programs string, stdout io.Writer) error {
	id, err := image.LoadIdentity(plan, s.kubernetes, s.out, time.Now())
	if err != nil {
		return err
	}
	var base image.Base
	if m != nil {
		cache, err := os.MkdirTemp("", "agent-image-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(cache)
		archives, err := hostprograms.Open(programs, cache, hostprograms.AgentBased()...)
		if err != nil {
			return err
		}
		base = image.Base{Arch: m.Arch, Media: m.Media(), Programs: archives.ForArch(m.Arch)}
		if s.installer != "" {
			installer, err := hostprograms.OpenInstaller(s.installer, cache)
			if err != nil {
				return err
			}
			base.Programs = append(base.Programs, installer)
		}
	}
	made, err := image.Build(ctx, plan, id, base, s.out)
	if err != nil {
		return fmt.Errorf("make the image: %w", err)
	}
	if s.json {
		return nil
	}
	fmt.Fprintln(stdout)
	for _, a := range made {
		note := ""
		if a.Secret {
			note = ", holds secrets"
		}
		fmt.Fprintf(stdout, "%s (%d bytes%s)\n", filepath.Join(s.out, a.Name), a.Size, note)
	}
	_, err = fmt.Fprintln(stdout, "\n"+s.next(plan, made))
	return err
}

// next is what a person does with the image.
func (s *settings) next(plan *image.Plan, made []image.Artifact) string {
	steps := map[image.Format]string{
		image.ISO:         "Boot all hosts from the ISO",
		image.MinimalISO:  "Serve the folder boot-artifacts at " + plan.BootArtifactsURL + ", and boot all hosts from the ISO",
		image.PXE:         "Serve the folder boot-artifacts at " + plan.BootArtifactsURL + ", to these hosts alone, and have them load the iPXE script",
		image.ConfigImage: "Attach the config image to each host that runs the appliance",
	}
	step := steps[plan.Format]
	switch {
	case plan.Set == nil:
		return step + "; they wait for a config image of the same release."
	case plan.Workflow == units.AddNodes:
		return fmt.Sprintf("%s within %s; each joins cluster %s by itself. Its certificate signing requests there wait for a person:\n  kubectl get csr", step, plan.TokenLifetime, plan.Cluster())
	}
	wait := fmt.Sprintf("ironflow agent-image wait-for install-complete --url %s --token-file %s", strings.TrimSuffix(plan.HubURL(), "/"), filepath.Join(s.out, image.WatcherToken))
	if kubeconfig := filepath.Join(s.out, image.Kubeconfig); slices.ContainsFunc(made, func(a image.Artifact) bool { return a.Name == image.Kubeconfig }) {
		wait += " --kubeconfig " + kubeconfig
	}
	return step + ", and follow them by:\n  " + wait
}

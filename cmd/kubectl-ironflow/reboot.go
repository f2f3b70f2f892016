package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
)

const rebootLong = `Asks for a reboot of machines by the annotation reboot.metal3.io of their hosts. Without --hard the operating system is asked to
shut down first.

With --key KEY, the annotation reboot.metal3.io/KEY is set instead: the machine is switched off and stays off until all annotations
of that kind are removed. "--key KEY --end" removes this one.

Only machines in use are rebooted: those of provisioned hosts. With --force, the others are rebooted too, and an inspection or a
deployment that waits for its machine is started over.

Machines in use, and with --force all machines, are listed, and you are asked before anything is done; --yes skips the question.`

// rebooting is one call of reboot.
type rebooting struct {
	selection        selection
	key              string
	hard, force, end bool
	wait, yes        bool
	timeout          time.Duration

	in       io.Reader
	out, err io.Writer
}

func newReboot(c *connection) *cobra.Command {
	r := rebooting{selection: selection{kind: hostKind}}
	cmd := &cobra.Command{
		Use: "reboot HOST... | -l LABELS | -f FILE", Short: "Reboot machines, or keep them off for a while", Long: rebootLong,
		ValidArgsFunction: c.complete(hostKind, anyNumber),
		Example:           "  kubectl ironflow reboot node-1 --wait\n  kubectl ironflow reboot node-1 --key disk-swap --hard\n  kubectl ironflow reboot node-1 --key disk-swap --end",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.selection.names, r.in, r.out, r.err = args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := r.check(); err != nil {
				return err
			}
			hosts, err := c.hosts(r.selection)
			if err != nil {
				return err
			}
			cl, _, err := c.open()
			if err != nil {
				return err
			}
			return r.run(cmd.Context(), cl, hosts)
		},
	}
	r.selection.bind(cmd, "reboot")
	flags := cmd.Flags()
	flags.BoolVar(&r.hard, "hard", false, "cut the power, without asking the operating system to shut down")
	flags.BoolVar(&r.force, "force", false, "also reboot machines that are not in use; an inspection or a deployment is started over")
	flags.StringVar(&r.key, "key", "", "switch the machines off, and keep them off by an annotation with this key until --end")
	flags.BoolVar(&r.end, "end", false, "remove the annotation with the key of --key; machines without another such annotation are switched on again")
	flags.BoolVar(&r.wait, "wait", false, "wait until the machines run again or, with --key, are off")
	flags.DurationVar(&r.timeout, "timeout", 30*time.Minute, "maximum time to wait, with --wait")
	flags.BoolVarP(&r.yes, "yes", "y", false, "do not ask before machines in use are rebooted")
	return cmd
}

func (r *rebooting) check() error {
	switch {
	case r.end && r.key == "":
		return usage("--end is of --key")
	case r.end && (r.hard || r.force):
		return usage("--end switches nothing off: leave --hard and --force out")
	}
	if wrong := validation.IsQualifiedName(r.annotation()); len(wrong) > 0 {
		return usage("--key %q: %s", r.key, strings.Join(wrong, "; "))
	}
	return r.selection.check(true)
}

// annotation is the name of the annotation.
func (r *rebooting) annotation() string {
	if r.key == "" {
		return names.Reboot
	}
	return names.RebootPrefix + r.key
}

// patch sets the annotation, or takes it away.
func (r *rebooting) patch() ([]byte, error) {
	var value any
	if !r.end {
		args := metal3v1.RebootAnnotationArguments{Mode: metal3v1.RebootModeSoft, Force: r.force}
		if r.hard {
			args.Mode = metal3v1.RebootModeHard
		}
		text, err := json.Marshal(args)
		if err != nil {
			return nil, err
		}
		value = string(text)
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{r.annotation(): value}}})
}

func (r *rebooting) run(ctx context.Context, cl client.WithWatch, hosts []metal3v1.BareMetalHost) error {
	if err := r.possible(hosts); err != nil {
		return err
	}
	if err := r.confirm(hosts); err != nil {
		return err
	}
	patch, err := r.patch()
	if err != nil {
		return err
	}
	var problems []error
	var asked []metal3v1.BareMetalHost
	for i := range hosts {
		if err := cl.Patch(ctx, &hosts[i], client.RawPatch(types.MergePatchType, patch)); err != nil {
			problems = append(problems, fmt.Errorf("host %s: %w", hosts[i].Name, err))
			continue
		}
		asked = append(asked, hosts[i])
		fmt.Fprintf(r.out, "host %s: %s\n", hosts[i].Name, r.says())
	}
	if r.wait && len(asked) > 0 {
		problems = append(problems, r.await(ctx, cl, asked))
	}
	return errors.Join(problems...)
}

func (r *rebooting) says() string {
	switch {
	case r.end:
		return "goes on, once no other client keeps it off"
	case r.key != "":
		return "is switched off, and stays off until --key " + r.key + " --end"
	default:
		return "is to be rebooted"
	}
}

// possible refuses what nobody would carry out: the annotation would lie in wait, and take effect at a time that nobody expects.
func (r *rebooting) possible(hosts []metal3v1.BareMetalHost) error {
	if r.end {
		return nil
	}
	var never, only []error
	for i := range hosts {
		h := &hosts[i]
		switch v := view.Of(h); {
		case keptOff(h, keepers) != "":
			never = append(never, fmt.Errorf("host %s: %s, and nobody would reboot it until then: %s", h.Name, keptOff(h, keepers), keptOffEnds(h)))
		case h.Spec.BMC.Address == "":
			never = append(never, fmt.Errorf("host %s: it has no BMC: set spec.bmc", h.Name))
		case !r.force && !inUse(h):
			only = append(only, usage("host %s is %s: only --force reboots a machine on which nothing runs", h.Name, v.Phase))
		}
	}
	if len(never) > 0 {
		return exitError{errors.Join(append(never, only...)...), exitPerson}
	}
	if len(only) > 0 {
		return exitError{errors.Join(only...), exitUsage}
	}
	return nil
}

// inUse reports a host on whose machine something runs that was asked for.
func inUse(h *metal3v1.BareMetalHost) bool {
	return slices.Contains([]metal3v1.ProvisioningState{metal3v1.StateProvisioned, metal3v1.StateExternallyProvisioned}, h.Status.Provisioning.State)
}

// confirm asks about each machine that is in use.
func (r *rebooting) confirm(hosts []metal3v1.BareMetalHost) error {
	if r.yes || r.end {
		return nil
	}
	var lines []string
	for i := range hosts {
		h := &hosts[i]
		if v := view.Of(h); inUse(h) || r.force {
			line := fmt.Sprintf("  %s/%s: %s", h.Namespace, h.Name, v.Phase)
			if v.Consumer != "" {
				line += ", used by " + v.Consumer
			}
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	what := "rebooted"
	if r.key != "" {
		what = "switched off, until --end"
	}
	if r.hard {
		what += ", without a shutdown of the operating system"
	}
	fmt.Fprintf(r.err, "These machines are to be %s:\n%s\nGo on? [yes/no] ", what, strings.Join(lines, "\n"))
	answer, err := bufio.NewReader(r.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if text := strings.ToLower(strings.TrimSpace(answer)); text != "y" && text != "yes" {
		fmt.Fprintln(r.err)
		return exitError{errors.New("nothing was done: it was not confirmed; answer yes, or call it with --yes"), exitPerson}
	}
	return nil
}

// await waits until the machines are as was asked for.
func (r *rebooting) await(ctx context.Context, cl client.WithWatch, hosts []metal3v1.BareMetalHost) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, errTimeout)
	defer cancel()
	w := waiting{client: cl, hosts: hosts, out: r.out, is: r.is, done: r.done(), timeout: r.timeout}
	return w.run(ctx)
}

func (r *rebooting) done() string {
	if r.key != "" && !r.end {
		return "off"
	}
	return "running"
}

// is reports whether a host is where it was to be. The annotation without a key goes once the machine was switched off for it.
func (r *rebooting) is(h *metal3v1.BareMetalHost) bool {
	if r.done() == "off" {
		return !h.Status.PoweredOn
	}
	for key := range h.Annotations {
		if key == names.Rebooting || key == names.Reboot || strings.HasPrefix(key, names.RebootPrefix) {
			return false
		}
	}
	return h.Status.PoweredOn || !h.Spec.Online
}

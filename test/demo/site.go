package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/names"
)

// Stay brings up a site for a person to work on as on a cluster of their own: the lab, machines that nobody has registered yet, and Ironflow. It writes
// copies of config/samples for these machines, prints the lines by which they are applied and given back, and stays until ctx ends. Nothing is left then.
func Stay(ctx context.Context, o Options) error {
	o.Machine, o.Edge, o.Fault, o.Kills = false, false, "", 0
	if err := o.validate(); err != nil {
		return err
	}
	d := &demo{options: o, screen: newScreen(o)}
	err := d.stay(ctx)
	if ctx.Err() != nil {
		err = nil // that is how a person ends it
	}
	err = errors.Join(err, d.shutdown(context.WithoutCancel(ctx)))
	switch {
	case d.dir == "":
	case err == nil && o.StateDir == "":
		return os.RemoveAll(d.dir)
	default:
		d.screen.Say("the logs are in %s", d.logs())
	}
	return err
}

func (d *demo) stay(ctx context.Context) error {
	if err := d.makeDir(); err != nil {
		return err
	}
	if err := d.bringUp(ctx); err != nil {
		return err
	}
	if err := d.linkTools(); err != nil {
		return fmt.Errorf("find kubectl: %w", err)
	}
	address, err := d.serveImage(ctx)
	if err != nil {
		return fmt.Errorf("serve an image for disks: %w", err)
	}
	if err := d.copySamples(address); err != nil {
		return fmt.Errorf("copy config/samples: %w", err)
	}
	fmt.Fprint(d.options.Out, d.lines())
	<-ctx.Done()
	return context.Cause(ctx)
}

// samplesDir is where the copies are.
func (d *demo) samplesDir() string { return filepath.Join(d.dir, "samples") }

// lines are what a person types in another terminal.
func (d *demo) lines() string {
	var b strings.Builder
	line := func(command, why string) { fmt.Fprintf(&b, "  %-*s  # %s\n", len(d.samplesDir())+40, command, why) }
	fmt.Fprintf(&b, `
The site is up: Kubernetes, Ironic, the BMCs of %d machines, and Ironflow. Ctrl-C ends it, and nothing is left of it.
In a second terminal, work with it as with a cluster of your own:

  export KUBECONFIG=%s PATH=%s:%s:$PATH
`, len(d.machines), d.lab.ControlPlane.Kubeconfig, d.options.BinDir, d.toolDir())
	line("kubectl apply -f "+filepath.Join(d.samplesDir(), namespaceFile), "the namespace of the hosts")
	for i, m := range d.machines {
		line("kubectl apply -f "+d.copyOf(m), "a copy of config/samples/"+d.sampleOf(i).folder+": "+d.sampleOf(i).means)
	}
	line("kubectl ironflow get hosts -n "+samplesNamespace+" -w", "what they do; Ctrl-C ends the list")
	line("kubectl ironflow describe "+d.machines[0].name+" -n "+samplesNamespace, "all that is known of one")
	b.WriteString("\nand back, which cleans their disks:\n\n")
	for i, m := range d.machines {
		fmt.Fprintf(&b, "  %s\n", d.sampleOf(i).back(m.name))
	}
	ironic, bmc := d.lab.Ironic, d.lab.Emulator
	fmt.Fprintf(&b, `
Ironic:  curl --cacert %[1]s --user %[2]s:%[3]s %[4]s/v1/nodes
BMCs:    curl --cacert %[1]s --user %[5]s:%[6]s %[7]s/redfish/v1/Systems
Logs:    %[8]s, machines %[9]s
%[10]s
`, d.lab.CAFile, ironic.User, ironic.Password, ironic.URL, bmc.User, bmc.Password, bmc.URL, d.logs(), filepath.Join(d.dir, "machines"), Real)
	return b.String()
}

// givenBack is the line by which a host that was lent to an InfraEnv is given back: asked for, since a label that goes says nothing.
func givenBack(host, namespace string) string {
	return fmt.Sprintf("kubectl annotate bmh %[1]s -n %[2]s %[3]s=%[1]s && kubectl label bmh %[1]s -n %[2]s %[4]s-", host, namespace, names.GiveBack, names.InfraEnvLabel)
}

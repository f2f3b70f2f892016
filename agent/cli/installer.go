package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// order are the flags of the installer, as existing hubs and agents give them;
// together they are an install order.
type order struct {
	request wire.InstallCmdRequest
	role    string
	check   bool
	proxy   wire.Proxy
}

func orderFlags(c *program.Common) *order {
	o := &order{}
	r := &o.request
	for _, f := range []struct {
		name, meaning string
		into          *string
	}{
		{"role", "bootstrap, master, arbiter or worker (required)", &o.role},
		{"boot-device", "disk to install to (required)", &r.BootDevice},
		{"controller-image", "container image of the controller that runs in the cluster (required)", &r.ControllerImage},
		{"agent-image", "container image of the agent (required)", &r.InstallerImage},
		{"mco-image", "container image of the machine config operator", &r.McoImage},
		{"must-gather-image", "container image that gathers logs of the cluster, or a JSON map of several", &r.MustGatherImage},
		{"openshift-version", "OpenShift version to install", &r.OpenshiftVersion},
		{"installer-args", "JSON list of arguments for coreos-installer", &r.InstallerArgs},
		{"coreos-image", "container image of the system to install into the running root file system", &r.CoreosImage},
	} {
		c.Set.StringVar(f.into, f.name, "", f.meaning)
	}
	c.Set.Int64Var(&r.ControlPlaneCount, "control-plane-count", 0, "number of control-plane hosts; 1 for a cluster of a single node")
	c.Set.Func("format-disk", "another disk to clean (repeatable)", func(disk string) error {
		r.DisksToFormat = append(r.DisksToFormat, disk)
		return nil
	})
	c.Set.Func("service-ips", "comma-separated IP addresses of the hub's services", func(list string) error {
		r.ServiceIPs = strings.Split(list, ",")
		return nil
	})
	c.Set.BoolVar(&o.check, "check-cluster-version", false, "also wait until the cluster version operator has finished")
	c.Set.BoolVar(&r.SkipInstallationDiskCleanup, "skip-installation-disk-cleanup", false, "do not clean the boot device before it is written")
	c.Set.BoolVar(&r.EnableSkipMcoReboot, "enable-skip-mco-reboot", false, "avoid the first reboot, which the machine config operator asks for otherwise")
	c.Set.BoolVar(&r.NotifyNumReboots, "notify-num-reboots", false, "report to the hub how often the host has rebooted")
	c.Set.Func("http-proxy", "proxy of the installed system for http URLs", optional(&o.proxy.HTTPProxy))
	c.Set.Func("https-proxy", "proxy of the installed system for https URLs", optional(&o.proxy.HTTPSProxy))
	c.Set.Func("no-proxy", "comma-separated names and networks that the installed system reaches without a proxy", optional(&o.proxy.NoProxy))
	return o
}

// optional takes the text of a flag; one that is not given stays nil.
func optional(into **string) func(string) error {
	return func(value string) error { *into = &value; return nil }
}

// install is the order that the flags make.
func (o *order) install(n *network) *wire.InstallCmdRequest {
	r := o.request
	r.Role, r.InfraEnvID, r.ClusterID, r.HostID = wire.HostRole(o.role), n.infraEnv, n.cluster, n.host
	if o.check {
		r.CheckCvo = &o.check
	}
	if o.proxy != (wire.Proxy{}) {
		r.Proxy = &o.proxy
	}
	return &r
}

// runInstaller installs this host by an order on the command line, as the image
// of that name does: for an agent that runs its installer as a program.
func runInstaller(ctx context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "")
	n, o := networkFlags(c), orderFlags(c)
	if code, done := c.Parse(s, args); done {
		return code
	}
	log, ring, closeLog := logging.Setup(c.Logs)
	defer closeLog()
	if n.host == "" || n.cluster == "" {
		fmt.Fprintln(s.Err, "--host-id and --cluster-id are required")
		return exitConfig
	}
	if o.request.ControllerImage == "" || o.request.InstallerImage == "" {
		fmt.Fprintln(s.Err, "--controller-image and --agent-image are required")
		return exitConfig
	}
	config := n.config(c)
	config.HostID, config.AgentVersion, config.Order = n.host, o.request.InstallerImage, o.install(n)
	config.Log, config.OwnLog = log, ring.Bytes
	if service.Run(ctx, config) != 0 {
		return exitConfig
	}
	return 0
}

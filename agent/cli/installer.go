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
		{"boot-device", "disk that is written (required)", &r.BootDevice},
		{"controller-image", "image of the in-cluster controller (required)", &r.ControllerImage},
		{"agent-image", "image reference of the agent (required)", &r.InstallerImage},
		{"mco-image", "image of the machine-config operator", &r.McoImage},
		{"must-gather-image", "an image, or a JSON map of them", &r.MustGatherImage},
		{"openshift-version", "version that is installed", &r.OpenshiftVersion},
		{"installer-args", "JSON list of arguments for coreos-installer", &r.InstallerArgs},
		{"coreos-image", "image that is installed into the running root", &r.CoreosImage},
	} {
		c.Set.StringVar(f.into, f.name, "", f.meaning)
	}
	c.Set.Int64Var(&r.ControlPlaneCount, "control-plane-count", 0, "hosts of the control plane; 1 is a single node")
	c.Set.Func("format-disk", "further disk that is cleaned; may be repeated", func(disk string) error {
		r.DisksToFormat = append(r.DisksToFormat, disk)
		return nil
	})
	c.Set.Func("service-ips", "comma-separated addresses of services", func(list string) error {
		r.ServiceIPs = strings.Split(list, ",")
		return nil
	})
	c.Set.BoolVar(&o.check, "check-cluster-version", false, "wait for the cluster's version operator too")
	c.Set.BoolVar(&r.SkipInstallationDiskCleanup, "skip-installation-disk-cleanup", false, "leave the boot device as it is before it is written")
	c.Set.BoolVar(&r.EnableSkipMcoReboot, "enable-skip-mco-reboot", false, "spare the first reboot by the machine-config operator")
	c.Set.BoolVar(&r.NotifyNumReboots, "notify-num-reboots", false, "tell the hub how often the host restarts")
	for name, into := range map[string]**string{"http-proxy": &o.proxy.HTTPProxy, "https-proxy": &o.proxy.HTTPSProxy, "no-proxy": &o.proxy.NoProxy} {
		c.Set.Func(name, "proxy of the installed system", func(value string) error { *into = &value; return nil })
	}
	return o
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

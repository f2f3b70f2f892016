package main

import (
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/ironic"
)

// parseAddress reads a host's BMC address for the host controller.
func parseAddress(d metal3v1.BMCDetails) (host.Access, error) {
	a, err := address.Parse(d.Address)
	if err != nil {
		return host.Access{}, err
	}
	prefix := string(a.Family) + "_"
	info := a.Location()
	if d.DisableCertificateVerification {
		info[prefix+"verify_ca"] = false
	}
	return host.Access{
		Driver: a.Driver, Interfaces: ironic.Interfaces(a.Interfaces), DriverInfo: info,
		UsernameKey: prefix + "username", PasswordKey: prefix + "password", TakesISO: a.BootsISO,
	}, nil
}

package nodespec

import (
	"errors"
	"runtime"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/ironic"
)

// Access is what a BMC address says about how Ironic reaches the machine.
type Access struct {
	// Driver is Ironic's hardware type.
	Driver string
	// Interfaces are the hardware interfaces that differ from Ironic's defaults.
	Interfaces ironic.Interfaces
	// DriverInfo is all of driver_info that belongs to the BMC, but the credentials.
	DriverInfo map[string]any
	// UsernameKey and PasswordKey are driver_info's keys of the credentials.
	UsernameKey, PasswordKey string
	// TakesISO means that the driver boots an ISO as it is.
	TakesISO bool
	// IPv6 means that the address is an IPv6 address, not a name.
	IPv6 bool
}

// AccessOf reads the address of a host's BMC.
func AccessOf(h *metal3.BareMetalHost) (Access, error) {
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return Access{}, err
	}
	if h.Spec.BootMACAddress == "" && (a.NeedsMAC || h.InspectionDisabled()) {
		return Access{}, errors.New("spec.bootMACAddress must be set for this scheme, and whenever inspection is disabled")
	}
	if InspectsFast(h) && a.Interfaces.Inspect == "" {
		return Access{}, errors.New("spec.inspectionMode is fast, which needs a BMC that speaks Redfish: set it to agent, or to disabled")
	}
	prefix := string(a.Family) + "_"
	info := a.DriverInfo(address.Credentials{}, address.Options{
		DisableCertificateVerification: h.Spec.BMC.DisableCertificateVerification,
	})
	delete(info, prefix+"username")
	delete(info, prefix+"password")
	return Access{
		Driver: a.Driver, Interfaces: ironic.Interfaces(a.Interfaces), DriverInfo: info, TakesISO: a.BootsISO, IPv6: a.IPv6(),
		UsernameKey: prefix + "username", PasswordKey: prefix + "password",
	}, nil
}

// OwnArchitecture is this program's own CPU architecture in Ironic's words.
func OwnArchitecture() string {
	switch runtime.GOARCH {
	case "arm64":
		return "aarch64"
	case "amd64":
		return "x86_64"
	}
	return runtime.GOARCH
}

// BMC is how a host's baseboard management controller is reached.
type BMC struct {
	// Secret and Version are the Secret's name and resource version.
	Secret, Version string
	// Content is a digest of the user name and the password, which marks on the Secret
	// leave as it is; empty without a Secret.
	Content string
	// Username and Password are its content; never logged.
	Username, Password string
	// Access is what the address says about driver and interfaces.
	Access Access
	// Problem is what is wrong with Secret or address, empty for nothing.
	Problem string
	// Missing is true when the problem is that the Secret is not there (yet).
	Missing bool
}

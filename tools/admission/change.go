package admission

// changeRules are about what may not change on a host.
func changeRules() []Rule {
	was, is := about("oldObject", str("spec.bmc.address")), about("object", str("spec.bmc.address"))
	wasMAC, isMAC := about("oldObject", str("spec.bootMACAddress")), about("object", str("spec.bootMACAddress"))
	state := about("oldObject", str("status.provisioning.state"))
	external := value("spec.externallyProvisioned", "false")
	return []Rule{
		{
			Name: "address change",
			Change: either(was+` == ""`, was+" == "+is, state+` in ["", "unmanaged", "registering"]`,
				about("oldObject", str("status.operationalStatus"))+` == "detached"`),
			Message: "spec.bmc.address can be changed while the host is registering or detached only, since another BMC may be another machine: " +
				"detach the host first (annotation baremetalhost.metal3.io/detached), or delete it and create another",
		},
		{
			Name:   "boot MAC change",
			Change: either(wasMAC+` == ""`, wasMAC+".lowerAscii() == "+isMAC+".lowerAscii()"),
			Message: "spec.bootMACAddress cannot be changed once it is set, since another address may be another machine: " +
				"delete the host and create another",
		},
		{
			Name: "externally provisioned",
			Change: either(about("oldObject", external), "!"+about("object", external),
				state+` in ["", "unmanaged", "registering", "available", "ready"]`,
				about("oldObject", str("status.errorType"))+` == "registration error"`), // which may tell to set it
			Message: "spec.externallyProvisioned can be set before the host is registered, while it is available, or while its machine is left alone, only: " +
				"wait until it is available, or create the host with it",
		},
	}
}

package catalog

const (
	image        = "DataImage"
	subscription = "BMCEventSubscription"
	policy       = "HostDeployPolicy"
)

// Events lists every reason of events, in the order of the documentation.
var Events = []Event{
	{host, "Discovered", false, "The host has no BMC details."},
	{host, "Registered", false, "The node was enrolled."},
	{host, "ProfileSet", false, "The host has a hardware profile other than the default: its root device hints are used."},
	{host, "BMCAccessValidated", false, "Ironic has verified the BMC's credentials."},
	{host, "BMCCredentialError", true, "The BMC's Secret or address cannot be used."},
	{host, "InspectionSkipped", false, "The spec disables inspection."},
	{host, "InspectionStarted", false, "Ironic was asked to inspect."},
	{host, "InspectionComplete", false, "HardwareData is written."},
	{host, "UpdateHardwareDetails", false, "Hardware details from outside are taken over."},
	{host, "RemoveAnnotation", false, "The annotation with hardware details is ignored and removed: the hardware is known."},
	{host, "PreparingStarted", false, "RAID, BIOS settings or firmware are being changed before the host is available."},
	{host, "ProvisioningStarted", false, "A deployment begins."},
	{host, "WishChanged", false, "A deployment failed that is no longer asked for; what the spec asks for now is carried out."},
	{host, "ProvisioningComplete", false, "The machine boots from its disk."},
	{host, "ServicingStarted", false, "BIOS settings or firmware of a provisioned machine are being changed."},
	{host, "ServicingComplete", false, "They are changed."},
	{host, "ServicingAborted", false, "Servicing was ended: the spec asks for nothing more that the HostUpdatePolicy allows."},
	{host, "ServicingPutOff", false, "The machine was on again before servicing began, or is to be off after it has failed; it is serviced in its next reboot, or when it is switched on."},
	{host, "DeprovisioningStarted", false, "The machine is given back."},
	{host, "DeprovisioningComplete", false, "The machine was given back, and is clean."},
	{host, "PowerOn", false, "Power on was asked for."},
	{host, "PowerOff", false, "Power off, or a restart, was asked for."},
	{host, "ForcedReboot", false, "What the machine was doing is started over, on request of a reboot annotation with force."},
	{host, "RestartNotKnown", true, "Ironic has lost sight of the machine's power since it was asked to restart it: whether it did is not known, and it is not asked again."},
	{host, "InvalidAnnotationValue", true, "A reboot annotation cannot be read; a soft reboot is assumed."},
	{host, "Detached", false, "Ironic no longer manages the host."},
	{host, "Attached", false, "It does again."},
	{host, "RegistrationError", true, "Registration failed."},
	{host, "ProvisionedRegistrationError", true, "Adoption of an installed machine failed."},
	{host, "InspectionError", true, "Inspection failed."},
	{host, "PreparationError", true, "Manual cleaning failed."},
	{host, "ProvisioningError", true, "Deployment, cleaning or deprovisioning failed."},
	{host, "PowerManagementError", true, "A power action failed."},
	{host, "ServicingError", true, "Servicing failed."},
	{host, "DetachError", true, "Ironic refuses to let go of the host's node; it is tried again."},
	{host, "StatusMembersDropped", true, "The status annotation has members that neither this version nor the cluster's schema knows; the host goes on without them."},
	{host, "IronicRestarted", true, "An operation that Ironic's restart cut off is started again."},
	{host, "AgentLost", true, "The agent in the live image fell silent, the machine is restarted."},
	{host, "DeletedWithoutDeprovisioning", true, "Deletion went on although deprovisioning failed four times, or without it, since the host's status does not tell what is on the machine: see UnknownInstance and MachineMayBeInUse."},
	{host, "DeletedWithoutPoweringOff", true, "Deletion went on although powering off failed four times."},
	{host, "ForceDeleted", true, "The host was released on request, without touching machine and node."},
	{host, "NodeOfAnotherHost", true, "The host was deleted; the node that was found for it is, or may be, another host's and was left alone."},
	{host, "NodeReplaced", false, "spec.bmc.address names another machine than the host's node in Ironic was of: the node was removed, and another one is enrolled. No machine was touched."},
	{host, "NodeOfAnotherMachine", true, "The host was deleted, and its node in Ironic, or the last one that it had, was of another BMC than the host named; neither machine was touched."},
	{host, "MachineOfAnotherHost", true, "The host was deleted; its machine is another host's and was left alone."},
	{host, "PortsLeftOut", false, "Network interfaces, other than the one that the machine boots from, have no port in Ironic: their address is on another node, or Ironic refuses it. Nothing is missing without them."},
	{
		host, "AgentInDoubt", true,
		"Several machines of one InfraEnv claim the host's boot MAC address, or one does after the host was installed, or not from the host's own live image; none of them is taken for it.",
	},
	{host, "BareMetalHostAssociated", false, "The host was bound to a HostClaim."},
	{host, "HostReleased", false, "A HostClaim has given the host back."},
	{host, "NotTakenOver", true, "The host has an InfraEnv's label, and what it is deployed with is a person's or a claim's, which is not replaced."},

	{settings, "ValidationFailed", true, "A setting does not fit what the machine offers."},
	{components, "ValidationFailed", true, "An update names a component that is not known."},

	{image, "DataImageAttached", false, "The image is in the machine's virtual CD drive."},
	{image, "DataImageDetached", false, "It was ejected."},
	{image, "DataImageFailed", true, "Ironic or the BMC could not attach or eject it; it is tried again."},
	{image, "DataImageLeft", true, "It may still be in the drive and is not ejected any more: the host is detached, or is being deleted and its BMC could not do it within ten minutes."},

	{host, "HardwareWarning", true, "A part of the machine is in state Warning, or the machine's log says so (with `--bmc`)."},
	{host, "HardwareCritical", true, "A part of the machine is in state Critical, or the machine's log says so (with `--bmc`)."},
	{host, "HardwareWell", false, "A part of the machine is OK again (with `--bmc`)."},
	{host, "BMCAlertWarning", true, "The BMC has sent an event of severity Warning (with `--bmc-events-addr`)."},
	{host, "BMCAlertCritical", true, "The BMC has sent an event of severity Critical (with `--bmc-events-addr`)."},
	{host, "BMCAlertWell", false, "The BMC has sent an event that something is OK again (with `--bmc-events-addr`)."},
	{host, "EventSubscriptionLeft", true, "The host was deleted or has another BMC, and its BMC of before could not be asked to remove the event subscription: what it sends is refused, and the subscription is removed when a host has that BMC again."},

	{subscription, "SubscriptionCreated", false, "The BMC sends its events."},
	{subscription, "SubscriptionLost", true, "The BMC has forgotten the subscription; it is made again."},
	{subscription, "SubscriptionFailed", true, "The BMC or Ironic refuses the subscription; what is wrong is also in `status.error`."},
	{subscription, "SubscriptionForceReleased", true, "The object was released on request, without asking the BMC."},

	{claim, "BareMetalHostAssociated", false, "A host was bound to the claim."},
	{claim, "HostReleased", false, "The claim's host was released."},
	{policy, "PolicyDoubtful", true, "The policy admits nobody, or more namespaces than its pattern seems to say."},
}

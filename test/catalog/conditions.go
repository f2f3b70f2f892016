package catalog

const (
	host       = "BareMetalHost"
	claim      = "HostClaim"
	settings   = "HostFirmwareSettings"
	components = "HostFirmwareComponents"
	bmc        = "BMC"
)

const (
	yes     = "True"
	no      = "False"
	unknown = "Unknown"
)

// Conditions is everything that conditions can say, in the order of the documentation.
var Conditions = []Condition{
	{host, "Progressing", no, "NotProgressing", "The host is at rest; the message names what keeps it from being as wanted, if anything does."},
	{host, "Progressing", no, "Detached", "Ironic does not manage the host: remove the annotation `baremetalhost.metal3.io/detached` to go on."},
	{host, "Progressing", yes, "Registering", "The node is enrolled and the BMC's credentials are verified."},
	{host, "Progressing", yes, "Inspecting", "The hardware is inspected."},
	{host, "Progressing", yes, "Preparing", "RAID, BIOS settings and firmware are brought to what is wanted."},
	{host, "Progressing", yes, "Provisioning", "The machine is being deployed."},
	{host, "Progressing", yes, "Deprovisioning", "The machine is being given back and cleaned."},
	{host, "Progressing", yes, "PoweringOffBeforeDelete", "The machine is switched off before its host goes."},
	{host, "Progressing", yes, "Deleting", "The node is removed from Ironic; the machine is not touched."},

	{host, "Manageable", yes, "Manageable", "Ironic and the machine's BMC can be worked with."},
	{host, "Manageable", no, "NotManaged", "The spec names no BMC: set `spec.bmc`."},
	{host, "Manageable", no, "Registering", "The BMC was not verified yet."},
	{host, "Manageable", no, "RegistrationFailed", "The BMC cannot be verified: check address, Secret and that the BMC answers."},
	{host, "Manageable", no, "PowerFailure", "Ironic cannot reach the BMC any more: check the BMC and its Secret, of which Ironic is told at once; it goes on by itself."},
	{host, "Manageable", no, "NodeFault", "Ironic marks the node with another fault; the next attempt clears it."},
	{host, "Manageable", no, "Maintenance", "Somebody has put the node into maintenance in Ironic: take it out to go on."},
	{host, "Manageable", no, "PowerStateUnknown", "Ironic does not know whether the machine is on: check the BMC; it goes on by itself when Ironic knows."},
	{host, "Manageable", unknown, "IronicUnavailable", "Ironic does not answer; the host keeps its state. Check Ironic."},

	{host, "AvailableForProvisioning", yes, "Available", "The host is free and ready to be provisioned."},
	{host, "AvailableForProvisioning", no, "NotAvailable", "It is not, see Progressing and Provisioned."},

	{host, "Provisioned", yes, "Provisioned", "What the spec asks for is on the machine, or somebody else has installed it."},
	{host, "Provisioned", no, "NotProvisioned", "Nothing that the spec asks for is on the machine."},

	{host, "Ready", yes, "Provisioned", "Provisioned, and nothing is wrong."},
	{host, "Ready", no, "NotProvisioned", "Not provisioned."},
	{host, "Ready", no, "Error", "An error is shown: see Stalled."},
	{host, "Ready", no, "Servicing", "Firmware or BIOS settings of the provisioned machine are being changed."},
	{host, "Ready", no, "Detached", "Ironic does not manage the host at present."},

	{host, "Healthy", yes, "Healthy", "The machine's BMC says that its hardware is fine."},
	{host, "Healthy", no, "Warning", "The BMC reports a problem: look at the machine."},
	{host, "Healthy", no, "CriticalError", "The BMC reports a critical problem: look at the machine."},
	{host, "Healthy", unknown, "Unknown", "The BMC says something else. Without a word from it, the condition keeps what it said last."},

	{host, "Stalled", no, "NotFailing", "No error is shown."},
	{host, "Stalled", yes, "RegistrationError", "Registration failed: check `spec.bmc`, the BMC's Secret and that the BMC answers."},
	{host, "Stalled", yes, "ProvisionedRegistrationError", "Adoption of an installed machine failed; the machine is not touched."},
	{host, "Stalled", yes, "InspectionError", "Inspection failed: look at the machine's console and at how far the BMC read the live image."},
	{host, "Stalled", yes, "PreparationError", "RAID, BIOS settings or firmware could not be brought about."},
	{host, "Stalled", yes, "ProvisioningError", "Deployment, cleaning or deprovisioning failed."},
	{host, "Stalled", yes, "PowerManagementError", "The machine could not be switched: check the BMC."},
	{host, "Stalled", yes, "ServicingError", "Servicing of a provisioned machine failed."},
	{host, "Stalled", yes, "BMCCredentialError", "The BMC's Secret or address cannot be used: the message says what to correct."},
	{host, "Stalled", yes, "UnknownState", "The status names a state that this version does not know: upgrade, or restore the status."},
	{host, "Stalled", yes, "RejectedByIronic", "Ironic refuses a request, with its text: correct the spec or Ironic's configuration."},
	{host, "Stalled", yes, "RetryLimitReached", "It failed too often and is not tried again by itself: remove the cause and set the annotation `ironflow.io/retry`."},
	{host, "Stalled", yes, "LiveImageError", "The live image cannot be built: see the PreprovisioningImage of the same name."},
	{host, "Stalled", yes, "VerificationStuck", "Ironic does not come to an end of verifying the BMC: see that its conductor runs; it goes on by itself when the node is put back."},
	{host, "Stalled", yes, "PreflightFailed", "A wish cannot work on this hardware, and nothing was started for it: the message names the field and what to write instead."},
	{host, "Stalled", yes, "UnknownIronic", "The annotation `ironflow.io/ironic` names an Ironic that is not configured: correct it, or configure that Ironic."},
	{host, "Stalled", yes, "NodeOfAnotherHost", "The node that was found in Ironic is, or may be, another host's, and is left alone: the message says whose and what shows it."},
	{host, "Stalled", yes, "StatusAnnotationUnreadable", "The status annotation cannot be read, so the host is left alone: correct it, or remove it for a new host."},

	{host, "DetachFailed", yes, "DetachError", "Ironic refuses to let go of the node: the message says why, and when it is tried again. The host stays as it is."},

	{settings, "ChangeDetected", yes, "Success", "The wish differs from what the machine has."},
	{settings, "ChangeDetected", no, "Success", "The machine has what is wished for."},
	{settings, "Valid", yes, "Success", "The wish fits the machine's schema."},
	{settings, "Valid", no, "ConfigurationError", "The wish does not fit, or nothing was read from the machine: the message names the setting."},
	{components, "ChangeDetected", yes, "OK", "Updates are wished for that were not made."},
	{components, "ChangeDetected", no, "OK", "All that is wished for was made."},
	{components, "Valid", yes, "OK", "The machine has the components that are to be updated."},
	{components, "Valid", no, "InvalidComponent", "A component is not known: the message names it."},

	{claim, "Associated", yes, "BareMetalHostAssociated", "A host is bound to the claim."},
	{claim, "Associated", no, "NoBareMetalHost", "No host can be given: no policy admits the namespace, or no available host matches."},
	{claim, "Associated", no, "BadHostSelector", "The selector cannot be read: correct `spec.hostSelector`."},
	{claim, "Associated", no, "MissingBareMetalHost", "The bound host was deleted: delete the claim, a new one is given a new host."},
	{claim, "Associated", no, "BareMetalHostTaken", "The bound host's consumerRef names somebody else: correct it, or delete the claim."},
	{claim, "Associated", no, "HostClaimDeleting", "The claim is being deleted and its host cleaned."},
	{claim, "Associated", no, "HostClaimDeletionFailed", "The host of a deleted claim cannot be deprovisioned: see the message."},

	{claim, "Synchronized", yes, "ConfigurationSynced", "The host's spec says what the claim says."},
	{claim, "Synchronized", no, "NotAssociated", "There is no host to write to."},
	{claim, "Synchronized", no, "BareMetalHostNotSynchronized", "The host's spec is being written, or the image's pull Secret cannot be read."},
	{claim, "Synchronized", no, "HostPaused", "The host is paused or on hold, so nothing is written to it."},
	{claim, "Synchronized", no, "UserDataSecretSyncFailure", "The Secret with the user data cannot be read: it must be in the claim's namespace."},
	{claim, "Synchronized", no, "NetworkDataSecretSyncFailure", "The Secret with the network data cannot be read: it must be in the claim's namespace."},
	{claim, "Synchronized", no, "MetaDataSecretSyncFailure", "The Secret with the meta data cannot be read: it must be in the claim's namespace."},
	{claim, "Synchronized", no, "HostClaimDeleting", "The claim is being deleted."},

	{claim, "Provisioned", yes, "Provisioned", "The host is provisioned."},
	{claim, "Provisioned", no, "NotProvisioned", "The host is not provisioned, or there is none."},
	{claim, "Provisioned", no, "Error", "The host shows an error; the message is the host's."},
	{claim, "Provisioned", no, "Inspecting", "The host is being inspected; the message is the host's."},
	{claim, "Provisioned", no, "Preparing", "The host is being prepared; the message is the host's."},
	{claim, "Provisioned", no, "Provisioning", "The host is being provisioned; the message is the host's."},
	{claim, "Provisioned", no, "Deprovisioning", "The host is being deprovisioned; the message is the host's."},

	{claim, "Ready", yes, "Provisioned", "Associated, Synchronized and Provisioned are all True."},
	{claim, "Ready", no, "the reason of the first that is not", "One of them is not: message and reason are that one's."},

	{bmc, "Ready", yes, "Ready", "The BMC was probed, and nothing is wrong with it; Healthy is not counted."},
	{bmc, "Ready", unknown, "Waiting", "The BMC was not probed yet."},
	{bmc, "Ready", no, "NoRedfish", "The address is not one of Redfish: nothing more can be known of this BMC."},
	{bmc, "Ready", no, "BadAddress", "The address or the authorities' certificates cannot be used: the message says what to correct."},
	{bmc, "Ready", no, "NoCredentials", "The BMC's Secret is missing or incomplete."},
	{bmc, "Ready", no, "BadCredentials", "The BMC refuses the credentials. No login is tried until the Secret changes, so that the account is not locked."},
	{bmc, "Ready", no, "as of the first condition that is False", "One of Reachable, CredentialsCurrent, PreflightPassed and InSync is False; its reason and message are repeated."},
	{bmc, "Reachable", yes, "Answered", "The last call came through."},
	{bmc, "Reachable", no, "Unreachable, TLS, Busy, NotRedfish, Broken, ...", "The last call did not come through; the reason is the kind of the failure ([bmc.md](bmc.md)). It is tried again after 1 to 16 minutes, and the last report stays."},
	{bmc, "Healthy", yes, "AllWell", "The BMC shows no part that is not well."},
	{bmc, "Healthy", no, "Warning", "A part is not well: the message names the worst."},
	{bmc, "Healthy", no, "Critical", "A part has failed: the message names it."},
	{bmc, "Healthy", unknown, "Unread", "Nothing is known of the parts: the BMC is silent, or the host is off."},
	{bmc, "CredentialsCurrent", yes, "Current", "It is as new as it has to be, or nobody asks for a change."},
	{bmc, "CredentialsCurrent", unknown, "RotationUnderWay", "A change is under way; the message names the step."},
	{bmc, "CredentialsCurrent", unknown, "NotAtRest", "A change is due, and the host is at work. It begins when the host is at rest."},
	{bmc, "CredentialsCurrent", unknown, "WaitingForTurn", "A change is due, and as many others are under way as may be."},
	{bmc, "CredentialsCurrent", unknown, "ChangeInterval", "A change is due, and the BMC takes none so soon after the last."},
	{bmc, "CredentialsCurrent", unknown, "SecretMissing", "The host's Secret is missing, or lacks username or password. Create it. In the middle of a change the record has the password that works."},
	{bmc, "CredentialsCurrent", no, "SharedSecret", "Other hosts use the same Secret; the message lists them. Give each host a Secret of its own."},
	{bmc, "CredentialsCurrent", no, "SharedAccount", "Other hosts use the same account of the same BMC; the message lists them. Give each host an account of its own, or change the password by hand."},
	{bmc, "CredentialsCurrent", no, "ManagedSecret", "The Secret is rendered from elsewhere and would be put back; the message says by what. Take the Secret out of there, or allow the change by the annotation and carry it back yourself."},
	{bmc, "CredentialsCurrent", no, "ImmutableSecret", "The Secret is immutable. Replace it by one that is not."},
	{bmc, "CredentialsCurrent", no, "Unsupported", "The BMC cannot be asked; the message says why. Make the change by hand."},
	{bmc, "CredentialsCurrent", no, "PolicyInvalid", "The policy of the flag or annotation cannot be read. Mend it as the message says."},
	{bmc, "CredentialsCurrent", no, "PolicyUnknown", "A change is due, and it is not known what passwords the BMC takes. Ask for a change by the annotation, and watch it."},
	{bmc, "CredentialsCurrent", no, "PolicyImpossible", "No password fits both the policy and the BMC. Change the policy as the message says."},
	{bmc, "CredentialsCurrent", unknown, "AccountUnknown", "A change is due, and the account cannot be found at the BMC. See the BMC's words in the message; it is looked for again."},
	{bmc, "CredentialsCurrent", no, "RefusedByBMC", "The BMC has refused what is new, and keeps the old. See the BMC's words in the message; ask again."},
	{bmc, "CredentialsCurrent", no, "NotKept", "The BMC has accepted a new password and kept the old one. Update the BMC's firmware, or change the password by hand."},
	{bmc, "CredentialsCurrent", unknown, "BMCSilent", "The BMC does not answer when a change is due, or in the middle of one. See that it can be reached; the change goes on by itself."},
	{bmc, "CredentialsCurrent", unknown, "BMCLockedOut", "The BMC refuses every login for a while. See who else logs in with a wrong password; the change goes on by itself."},
	{bmc, "CredentialsCurrent", unknown, "IronicFails", "Ironic cannot log in with what is new, which we have proven. See the message and Ironic's log; it is tried again. A certificate's issuer must be trusted by the conductors."},
	{bmc, "CredentialsCurrent", no, "AnotherBMC", "The host was given another BMC in the middle of a change; nobody logs in there. See the message: put the address back until the change is over, or say by the annotation that it is the same BMC."},
	{bmc, "CredentialsCurrent", no, "Reverted", "The password before the last change is back in the host's Secret. Nobody logs in with it. Copy the password from the record to where the Secret comes from."},
	{bmc, "CredentialsCurrent", no, "NeitherHolds", "Quarantine: no password that we have works. Nobody logs in. Put the right password into the host's Secret."},
	{bmc, "CredentialsCurrent", no, "SecretChanged", "Quarantine: somebody has put a password into the host's Secret that does not work, and the record has one that did. Nobody logs in. Copy the password from the record, or set the BMC's and ask for another try."},
	{bmc, "CredentialsCurrent", no, "RecordUnreadable", "The record cannot be read. Mend or delete it as the message says."},
	{bmc, "PreflightPassed", yes, "Passed", "Nothing that is known speaks against the host's wishes. What is not known does not block."},
	{bmc, "PreflightPassed", yes, "Overridden", "Wishes do not fit the hardware; the annotation `ironflow.io/preflight-override` lets the host go on."},
	{bmc, "PreflightPassed", no, "PreflightFailed", "Wishes cannot work on this hardware, and nothing is started for them: the message names each field and what to write instead."},
	{bmc, "PreflightPassed", unknown, "NoReport", "There is no report of the BMC to hold the wishes against."},
	{bmc, "InSync", yes, "InSync", "After the work on the host, Ironic and the BMC show what was asked for: BIOS settings, volumes, versions. Without such wishes there is no condition."},
	{bmc, "InSync", no, "Drift", "They show something else: the message has field, wanted and seen value and who shows it. Nothing is done about it unasked."},
	{bmc, "InSync", unknown, "AtWork", "The host is not at rest, or shows an error: it is compared afterwards."},
	{bmc, "InSync", unknown, "NotKnown", "The BMC could not be asked since the work was done; it is tried again as for Reachable."},
}

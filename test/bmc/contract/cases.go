package contract

import "slices"

// Feature is a row of the list of what a BMC must have for Ironflow.
type Feature string

// The features.
const (
	Service      Feature = "service root"
	Sessions     Feature = "sessions"
	Accounts     Feature = "accounts"
	Systems      Feature = "systems"
	Power        Feature = "power"
	BootOverride Feature = "boot override"
	VirtualMedia Feature = "virtual media"
	Managers     Feature = "managers"
	Chassis      Feature = "chassis"
	Sensors      Feature = "sensors"
	Interfaces   Feature = "Ethernet interfaces"
	BIOS         Feature = "BIOS settings"
	SecureBoot   Feature = "secure boot"
	Storage      Feature = "storage"
	Updates      Feature = "update service"
	Events       Feature = "event service"
	Tasks        Feature = "tasks"
	Logs         Feature = "logs"
	Certificates Feature = "certificates"
	Licences     Feature = "licences"
)

// Features are all features.
var Features = []Feature{
	Service, Sessions, Accounts, Systems, Power, BootOverride, VirtualMedia, Managers, Chassis, Sensors, Interfaces, BIOS, SecureBoot, Storage,
	Updates, Events, Tasks, Logs, Certificates, Licences,
}

// Cases is the table of what BMCs are asked for. Both: sushy-tools' emulator has it too.
var Cases = slices.Concat([]Case{
	{"service root", Service, true, serviceRoot},
	{"versions and metadata", Service, false, versions},
	{"what is not there", Service, true, missing},
	{"wrong password", Service, true, wrongPassword},
	{"ETag", Service, false, etags},
	{"rules of the protocol", Service, false, protocolRules},
	{"session", Sessions, false, sessions},
	{"session service", Sessions, false, sessionService},
	{"system", Systems, true, system},
	{"processors and memory", Systems, false, processors},
	{"asset tag", Systems, false, assetTag},
	{"Ethernet interfaces", Interfaces, true, interfaces},
	{"manager", Managers, true, manager},
	{"restart of the manager", Managers, false, restartManager},
	{"chassis", Chassis, true, chassis},
	{"network adapters", Chassis, false, adapters},
	{"temperatures", Sensors, true, temperatures},
	{"readings depend on the power", Sensors, false, readings},
	{"sensors", Sensors, false, sensors},
	{"power", Power, true, power},
	{"more reset types", Power, false, moreResets},
	{"unknown reset type", Power, true, unknownReset},
	{"delays of power", Power, false, powerDelays},
	{"the machine's own power", Power, false, ownPower},
	{"boot device", BootOverride, true, bootDevice},
	{"boot mode", BootOverride, true, bootMode},
	{"boot once", BootOverride, false, bootOnce},
	{"HTTP boot", BootOverride, true, httpBoot},
	{"unknown boot device", BootOverride, false, unknownBoot},
	{"virtual media", VirtualMedia, true, virtualMedia},
	{"virtual media of the manager", VirtualMedia, true, managerMedia},
	{"refused media", VirtualMedia, false, refusedMedia},
	{"secure boot", SecureBoot, true, secureBoot},
	{"secure boot in this boot", SecureBoot, false, secureBootNow},
	{"secure boot keys", SecureBoot, false, secureBootKeys},
}, accountCases, managerCases, healthCases, biosCases, storageCases, updateCases, eventCases)

var accountCases = []Case{
	{"account service", Accounts, false, accountService},
	{"accounts", Accounts, false, manageAccounts},
	{"refused accounts", Accounts, false, refusedAccounts},
	{"new password", Accounts, false, newPassword},
}

var managerCases = []Case{
	{"clock of the manager", Managers, false, managerClock},
	{"network protocol", Managers, false, networkProtocol},
	{"log of the manager", Logs, false, managerLogs},
	{"certificates", Certificates, false, certificates},
	{"licences", Licences, false, licences},
	{"jobs", Tasks, false, jobs},
	{"no settings object", Systems, false, noSettingsObject},
}

var healthCases = []Case{
	{"cooling", Sensors, false, cooling},
	{"power supplies", Sensors, false, supplies},
	{"states of sensors", Sensors, false, sensorStates},
	{"memory and processors", Systems, false, memoryModules},
	{"drives that fail", Storage, false, drivesThatFail},
}

var biosCases = []Case{
	{"BIOS settings", BIOS, false, biosSettings},
	{"BIOS settings are applied at a reset", BIOS, false, biosApplied},
	{"refused BIOS settings", BIOS, false, biosRefused},
	{"BIOS defaults", BIOS, false, biosDefaults},
	{"BIOS registry", BIOS, false, biosRegistry},
}

var storageCases = []Case{
	{"storage", Storage, false, storage},
	{"RAID at once", Storage, false, raidAtOnce},
	{"RAID at a reset", Storage, false, raidAtReset},
	{"RAID types", Storage, false, raidTypes},
	{"refused RAID", Storage, false, raidRefused},
}

var updateCases = []Case{
	{"firmware inventory", Updates, false, firmwareInventory},
	{"update of the BIOS", Updates, false, updateBIOS},
	{"update of the BMC", Updates, false, updateBMC},
	{"update of a network adapter", Updates, false, updateNIC},
	{"update that fails", Updates, false, updateFails},
	{"tasks", Tasks, false, tasks},
	{"cancelled task", Tasks, false, cancelledTask},
}

var eventCases = []Case{
	{"subscription", Events, false, subscription},
	{"refused subscription", Events, false, refusedSubscription},
	{"delivery of events", Events, false, delivery},
	{"repeated delivery", Events, false, redelivery},
	{"event stream", Events, false, eventStream},
	{"subscriptions by prefix", Events, false, subscriptionsByPrefix},
	{"log", Logs, false, logEntries},
}

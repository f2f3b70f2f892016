package simulator

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The quirks of BIOS settings, storage, tasks and updates.
const (
	BIOSFails             Quirk = "bios-fails"
	BIOSResetOnly         Quirk = "bios-reset-only"
	BIOSSettingsNull      Quirk = "bios-settings-null"
	BIOSNoApplyTimes      Quirk = "bios-no-apply-times"
	BIOSNeedsApplyTime    Quirk = "bios-needs-apply-time"
	BIOSPendingCopy       Quirk = "bios-pending-full-copy"
	BIOSPendingBare       Quirk = "bios-pending-without-attributes"
	BIOSPendingElsewhere  Quirk = "bios-pending-elsewhere"
	RegistryNegative      Quirk = "registry-negative-bound"
	RegistryOther         Quirk = "registry-other-version"
	RegistryNull          Quirk = "registry-null"
	EnumDisplayNames      Quirk = "enum-display-names"
	PendingJobBlocks      Quirk = "pending-job-blocks"
	VolumesReadOnly       Quirk = "volumes-read-only"
	NoVolumes             Quirk = "no-volumes"
	VolumeLinksOnly       Quirk = "volume-links-only"
	NoVolumeApplyTimes    Quirk = "no-volume-apply-times"
	ControllersInline     Quirk = "controllers-inline"
	ControllersApart      Quirk = "controllers-apart"
	StorageAfterPOST      Quirk = "storage-after-post"
	AdaptersAfterPOST     Quirk = "adapters-after-post"
	TaskStateNew          Quirk = "task-state-new"
	TaskLate              Quirk = "task-late"
	TaskGoneAfterRead     Quirk = "task-gone-after-read"
	TaskMovesToJob        Quirk = "task-moves-to-job"
	TaskMonitorPath       Quirk = "task-monitor-path"
	NoJobService          Quirk = "no-job-service"
	NoSimpleUpdate        Quirk = "no-simple-update"
	PushUpdates           Quirk = "push-updates"
	InventoryRepeats      Quirk = "inventory-repeats-ids"
	InventoryPending      Quirk = "inventory-pending"
	NoCertificateService  Quirk = "no-certificate-service"
	CertificateAfterReset Quirk = "certificate-after-reset"
	CertificateCut        Quirk = "certificate-cut"
	SameOffsetRefused     Quirk = "same-offset-refused"
	FractionsRefused      Quirk = "fractions-refused"
	LogAbsentWhenEmpty    Quirk = "log-absent-when-empty"
	LogNewestFirst        Quirk = "log-newest-first"
	NoThermalSubsystem    Quirk = "no-thermal-subsystem"
	HealthMissing         Quirk = "health-missing"
)

const (
	biosGet    = "GET /redfish/v1/Systems/{system}/Bios"
	biosPatch  = "PATCH */Bios/*"
	volumePost = "POST */Storage/{storage}/Volumes"
	taskReads  = "GET /redfish/v1/TaskService/Task*/{task}*"
)

// annotates changes the @Redfish.Settings of a Bios.
func annotates(change func(settings object)) func(c *call, body object) {
	return func(_ *call, body object) {
		if settings, ok := body["@Redfish.Settings"].(object); ok {
			settings = maps.Clone(settings)
			change(settings)
			body["@Redfish.Settings"] = settings
		}
	}
}

// emptyAttributes hides settings that are none.
func emptyAttributes(_ *call, body object) {
	if attributes, ok := body["Attributes"].(map[string]any); ok && len(attributes) == 0 {
		delete(body, "Attributes")
	}
}

// gone hides a part: its link in what names it, and what is below it.
func gone(name, parent string, below ...string) trait {
	return trait{
		at: append([]string{parent}, below...),
		refuse: func(c *call) error {
			if c.pattern == parent {
				return nil
			}
			return notFound(c.r.URL.Path)
		},
		reshape: removed(name),
	}
}

func afterPOST(c *call) bool { return c.sys != nil && c.sys.progress != osRunning }

var settingsOddities = []oddity{
	{Info{BIOSFails, "Bios is answered with 500.", true}, trait{
		at: []string{"GET */Bios*"}, refuse: func(*call) error {
			return fault(http.StatusInternalServerError, generalError, "The request failed due to an internal service error.")
		},
	}},
	{Info{BIOSResetOnly, "Bios has nothing but the action ResetBios.", true}, trait{
		at: []string{biosGet}, reshape: removed("Attributes", "AttributeRegistry", "@Redfish.Settings"),
	}},
	{Info{BIOSSettingsNull, "@Redfish.Settings of Bios is null.", true}, trait{
		at: []string{biosGet}, reshape: func(_ *call, body object) { body["@Redfish.Settings"] = nil },
	}},
	{Info{BIOSNoApplyTimes, "Bios names no apply times.", true}, trait{
		at: []string{biosGet}, reshape: annotates(func(settings object) { delete(settings, "SupportedApplyTimes") }),
	}},
	{Info{BIOSNeedsApplyTime, "BIOS settings without @Redfish.SettingsApplyTime are taken and stay pending for ever.", true}, trait{}},
	{Info{BIOSPendingCopy, "The pending BIOS settings have all settings, not the changes only.", true}, trait{
		at: []string{"GET */Bios/Settings", "GET */Bios/{pending}"}, reshape: func(c *call, body object) {
			all := maps.Clone(c.sys.bios.current)
			maps.Copy(all, c.sys.bios.pending)
			body["Attributes"] = c.sys.bios.shown(all)
		},
	}},
	{Info{BIOSPendingBare, "The pending BIOS settings have no Attributes while nothing is pending.", true}, trait{
		at: []string{"GET */Bios/Settings", "GET */Bios/{pending}"}, reshape: emptyAttributes,
	}},
	{Info{BIOSPendingElsewhere, "The pending BIOS settings are at Bios/SD.", true}, trait{
		at: []string{biosGet, "* */Bios/Settings"},
		refuse: func(c *call) error {
			if c.pattern == biosGet {
				return nil
			}
			return notFound(c.r.URL.Path)
		},
		reshape: func(c *call, body object) {
			annotates(func(settings object) { settings["SettingsObject"] = link("Systems", c.sys.ID, "Bios", "SD") })(c, body)
		},
	}},
	{Info{RegistryNegative, "The bounds of numbers in the attribute registry are -1.", true}, trait{
		at: []string{"GET */RegistryStore/{registry}"}, reshape: eachAttribute(func(entry object) {
			if entry["Type"] == integer {
				entry["LowerBound"], entry["UpperBound"] = -1, -1
			}
		}),
	}},
	{Info{RegistryOther, "Bios names another version of the attribute registry than is served.", true}, trait{
		at: []string{biosGet}, reshape: func(_ *call, body object) {
			if name, ok := body["AttributeRegistry"].(string); ok {
				body["AttributeRegistry"] = name[:strings.LastIndex(name, "_")] + "_3"
			}
		},
	}},
	{Info{RegistryNull, "AttributeRegistry of Bios is null.", true}, trait{
		at: []string{biosGet}, reshape: func(_ *call, body object) { body["AttributeRegistry"] = nil },
	}},
	{Info{EnumDisplayNames, "Bios shows its values by their display names.", true}, trait{
		at: []string{biosGet, "GET */RegistryStore/{registry}"}, reshape: displayNames,
	}},
	{Info{PendingJobBlocks, "Settings and volumes are refused while a job waits for a reset.", true}, trait{
		at:   []string{biosPatch, volumePost, "POST */UpdateService.SimpleUpdate"},
		when: func(c *call) bool { return c.of != nil && c.s.waits(c.of) }, refuse: pendingJob,
	}},
	{Info{VolumesReadOnly, "Volumes can be neither made nor removed.", true}, trait{
		at: []string{volumePost, "DELETE */Volumes/{volume}"}, absent: true,
	}},
	{Info{NoVolumes, "Storage has no Volumes.", true}, gone("Volumes", "GET /redfish/v1/Systems/{system}/Storage/{storage}", "* */Volumes*")},
	{Info{VolumeLinksOnly, "A new volume with VolumeType, Encrypted or Drives outside of Links is refused.", true}, trait{
		at: []string{volumePost}, when: func(c *call) bool { return c.gives("VolumeType") || c.gives("Encrypted") || c.gives("Drives") },
		refuse: unknownParameter("VolumeType"),
	}},
	{Info{NoVolumeApplyTimes, "Volumes name no apply times.", true}, trait{
		at: []string{"GET */Storage/{storage}/Volumes"}, reshape: removed("@Redfish.OperationApplyTimeSupport"),
	}},
	{Info{ControllersInline, "Storage has StorageControllers and no Controllers.", true}, gone("Controllers", "GET /redfish/v1/Systems/{system}/Storage/{storage}", "* */Controllers*")},
	{Info{ControllersApart, "Storage has Controllers and no StorageControllers.", true}, trait{
		at: []string{"GET /redfish/v1/Systems/{system}/Storage/{storage}"}, reshape: removed("StorageControllers", "StorageControllers@odata.count"),
	}},
	{Info{StorageAfterPOST, "There is no storage until POST has ended.", true}, trait{
		at: []string{"GET /redfish/v1/Systems/{system}/Storage"}, when: afterPOST,
		reshape: func(_ *call, body object) { body["Members"], body["Members@odata.count"] = []object{}, 0 },
	}},
	{Info{AdaptersAfterPOST, "NetworkAdapters are refused with 400 until POST has ended.", true}, trait{
		at: []string{"GET */NetworkAdapters*"}, when: afterPOST, refuse: func(*call) error {
			return oem(http.StatusBadRequest, "iLO.2.23.ResourceNotReadyRetry", "The resource is not ready: wait until the system is past POST.")
		},
	}},
	{Info{TaskStateNew, "A task that runs shows the state New.", true}, trait{
		at: []string{taskReads}, reshape: func(_ *call, body object) {
			if body["TaskState"] == taskRunning {
				body["TaskState"] = "New"
			}
		},
	}},
	{Info{TaskLate, "A task that was just made is answered with 404.", false}, trait{at: []string{taskReads, "GET */Jobs/{task}"}, refuse: notYet}},
	{Info{TaskGoneAfterRead, "A task that has ended is removed when its monitor is read.", true}, trait{}},
	{Info{TaskMovesToJob, "A task is Completed at once, and says that it has become a job.", true}, trait{
		at: []string{taskReads}, reshape: func(_ *call, body object) { moved(body) },
	}},
	{Info{TaskMonitorPath, "The Location of a task is the task's with /Monitor at its end.", true}, trait{}},
	{Info{NoJobService, "The service root has no JobService.", true}, gone("JobService", "GET /redfish/v1", "* /redfish/v1/JobService*")},
	{Info{NoSimpleUpdate, "UpdateService has no SimpleUpdate.", true}, gone("Actions", "GET /redfish/v1/UpdateService", "POST */UpdateService.SimpleUpdate")},
	{Info{PushUpdates, "UpdateService names where images can be pushed to, and their greatest size.", true}, trait{
		at: []string{"GET /redfish/v1/UpdateService"}, reshape: func(_ *call, body object) {
			body["HttpPushUri"], body["MultipartHttpPushUri"] = path("UpdateService", "update"), path("UpdateService", "upload")
			body["MaxImageSizeBytes"] = 210 << 20
		},
	}},
	{Info{InventoryRepeats, "All items of the firmware inventory have one Id.", true}, trait{
		at: []string{"GET */FirmwareInventory/{firmware}"}, reshape: func(_ *call, body object) { body["Id"] = "BMC" },
	}},
	{Info{InventoryPending, "The firmware inventory has an item -Pending for what waits.", true}, trait{
		at: []string{"GET */FirmwareInventory/{firmware}"}, reshape: func(_ *call, body object) {
			if id, ok := body["Id"].(string); ok {
				body["Id"], body["Version"] = id+"-Pending", ""
			}
		},
	}},
	{Info{NoCertificateService, "The service root has no CertificateService.", true}, gone("CertificateService", "GET /redfish/v1", "* /redfish/v1/CertificateService*")},
	{Info{CertificateAfterReset, "A new certificate is served after a reset of the manager.", true}, trait{}},
	{Info{CertificateCut, "A new certificate's connection is cut, and it is served.", false}, trait{}},
	{Info{SameOffsetRefused, "A DateTimeLocalOffset that is set already is refused.", true}, trait{
		at: []string{"PATCH /redfish/v1/Managers/{system}"}, when: func(c *call) bool { return c.gives("DateTimeLocalOffset") },
		refuse: func(*call) error {
			return faultAt("DateTimeLocalOffset", readOnlyProperty, "The property DateTimeLocalOffset cannot be assigned this value.")
		},
	}},
	{Info{FractionsRefused, "A DateTime with a fraction of a second is refused.", true}, trait{
		at:   []string{"PATCH /redfish/v1/Managers/{system}"},
		when: func(c *call) bool { text, _ := c.body["DateTime"].(string); return strings.Contains(text, ".") },
		refuse: func(*call) error {
			return faultAt("DateTime", wrongFormat, "The value for the property DateTime is of a different format than the property can accept.")
		},
	}},
	{Info{LogAbsentWhenEmpty, "The entries of an empty log are not found.", true}, trait{
		at: []string{"GET */SEL/Entries"}, when: func(c *call) bool { return len(c.sys.log.entries) == 0 },
		refuse: func(c *call) error { return notFound(c.r.URL.Path) },
	}},
	{Info{LogNewestFirst, "The newest entry of a log comes first.", true}, trait{
		at: []string{"GET */SEL/Entries"}, reshape: func(_ *call, body object) {
			if members, ok := body["Members"].([]object); ok {
				members = slices.Clone(members)
				slices.Reverse(members)
				body["Members"] = members
			}
		},
	}},
	{Info{NoThermalSubsystem, "The chassis has Thermal and Power and not what came after them.", true}, trait{
		at: []string{"GET /redfish/v1/Chassis/{system}", "GET */ThermalSubsystem*", "GET */PowerSubsystem*"},
		refuse: func(c *call) error {
			if c.pattern == "GET /redfish/v1/Chassis/{system}" {
				return nil
			}
			return notFound(c.r.URL.Path)
		},
		reshape: removed("ThermalSubsystem", "PowerSubsystem"),
	}},
	{Info{HealthMissing, "Health of a power supply is null.", true}, trait{
		at: []string{"GET */PowerSupplies/{supply}"}, reshape: func(_ *call, body object) { body["Status"] = object{"State": "Enabled", "Health": nil} },
	}},
}

// eachAttribute changes the entries of a registry.
func eachAttribute(change func(entry object)) func(c *call, body object) {
	return func(_ *call, body object) {
		entries, _ := body["RegistryEntries"].(object)
		list, _ := entries["Attributes"].([]object)
		for _, entry := range list {
			change(entry)
		}
	}
}

// displayNames gives values other names in the registry, and shows those in Bios.
func displayNames(c *call, body object) {
	if attributes, ok := body["Attributes"].(map[string]any); ok {
		shown := maps.Clone(attributes)
		for name, value := range shown {
			if a, known := c.sys.bios.registry.find(name); known && a.Type == enumeration {
				shown[name] = displayName(value)
			}
		}
		body["Attributes"] = shown
		return
	}
	eachAttribute(func(entry object) {
		values, _ := entry["Value"].([]object)
		for _, value := range values {
			value["ValueDisplayName"] = displayName(value["ValueName"])
		}
	})(c, body)
}

func displayName(value any) string {
	text, _ := value.(string)
	return "The value " + text
}

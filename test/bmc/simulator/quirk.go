package simulator

// Quirk is a way in which a system misbehaves. It strikes a number of times, or
// always; [System.Quirks] and [Server.SetQuirk] switch it on. A quirk of a service
// that systems share (events, updates, sessions) shows only where a server has a
// single system, as most BMCs do.
type Quirk string

// Always is the number of times of a quirk that never ends.
const Always = -1

// The quirks. [Quirks] says what each does.
const (
	PowerStaysOn        Quirk = "power-stays-on"
	PowerStaysOff       Quirk = "power-stays-off"
	GracefulIgnored     Quirk = "graceful-ignored"
	GracefulUnsupported Quirk = "graceful-unsupported"
	WrongPowerState     Quirk = "wrong-power-state"
	NoPowerState        Quirk = "no-power-state"
	BootIgnored         Quirk = "boot-ignored"
	BootLost            Quirk = "boot-lost"
	NoHTTPBoot          Quirk = "no-http-boot"
	MediaNotInserted    Quirk = "media-not-inserted"
	MediaNotEjected     Quirk = "media-not-ejected"
	MediaNeedsTransfer  Quirk = "media-needs-transfer"
	MediaOnManager      Quirk = "media-on-manager"
	MediaByPatch        Quirk = "media-by-patch"
	NoBIOS              Quirk = "no-bios"
	NoBIOSRegistry      Quirk = "no-bios-registry"
	BIOSNotApplied      Quirk = "bios-not-applied"
	NoSecureBoot        Quirk = "no-secure-boot"
	NoStorage           Quirk = "no-storage"
	NoRAIDType          Quirk = "no-raid-type"
	NoEventService      Quirk = "no-event-service"
	EventLost           Quirk = "event-lost"
	NoUpdateService     Quirk = "no-update-service"
	FirmwareUnchanged   Quirk = "firmware-unchanged"
	TaskWithoutLocation Quirk = "task-without-location"
	TaskLost            Quirk = "task-lost"
	TaskFails           Quirk = "task-fails"
	NoBootProgress      Quirk = "no-boot-progress"
	NoSessions          Quirk = "no-sessions"
	SessionLost         Quirk = "session-lost"
	ETagRequired        Quirk = "etag-required"
	Slow                Quirk = "slow"
	Unavailable         Quirk = "unavailable"
	ConnectionCut       Quirk = "connection-cut"
)

// Info describes a quirk.
type Info struct {
	Quirk Quirk
	// Text says what the BMC does, as a sentence.
	Text string
	// Shape says that it changes what resources look like rather than what
	// requests do: then it is on while its number is not zero, and never used up.
	Shape bool
}

// Quirks are all quirks. docs/machines.md has this table.
var Quirks = []Info{
	{PowerStaysOn, "A request to switch off is accepted, and the machine stays on.", false},
	{PowerStaysOff, "A request to switch on is accepted, and the machine stays off.", false},
	{GracefulIgnored, "A graceful shutdown or restart is accepted, and nothing happens.", false},
	{GracefulUnsupported, "Graceful resets are not listed, and refused with 400.", true},
	{WrongPowerState, "A read of the system shows On for Off and Off for On.", false},
	{NoPowerState, "A read of the system shows a PowerState of null.", false},
	{BootIgnored, "A boot override is accepted and not kept.", false},
	{BootLost, "A continuous boot override is forgotten at the next boot.", false},
	{NoHTTPBoot, "UefiHttp is not among the boot targets, and HttpBootUri is missing.", true},
	{MediaNotInserted, "InsertMedia is accepted, and the slot stays empty.", false},
	{MediaNotEjected, "EjectMedia is accepted, and the medium stays.", false},
	{MediaNeedsTransfer, "InsertMedia is refused without TransferProtocolType.", true},
	{MediaOnManager, "Virtual media are found below the manager only.", true},
	{MediaByPatch, "Virtual media have no actions; they are changed by PATCH.", true},
	{NoBIOS, "The system has no Bios.", true},
	{NoBIOSRegistry, "The Bios names an attribute registry that is not served.", true},
	{BIOSNotApplied, "Pending BIOS settings are dropped at the reset that should apply them.", false},
	{NoSecureBoot, "The system has no SecureBoot.", true},
	{NoStorage, "The system has no Storage.", true},
	{NoRAIDType, "Volumes and controllers do not show RAID types.", true},
	{NoEventService, "The service root has no EventService.", true},
	{EventLost, "An event is not delivered.", false},
	{NoUpdateService, "The service root has no UpdateService.", true},
	{FirmwareUnchanged, "An update's task completes, and the version stays.", false},
	{TaskWithoutLocation, "202 comes without a Location header.", false},
	{TaskLost, "A new task is forgotten at once: its monitor answers 404, its work is done.", false},
	{TaskFails, "A task ends in Exception, and its work is not done.", false},
	{NoBootProgress, "The system has no BootProgress.", true},
	{NoSessions, "Sessions are refused with 405; basic authentication works.", true},
	{SessionLost, "A request with a session's token is answered with 401, and the session is gone.", false},
	{ETagRequired, "A PATCH without If-Match is refused with 428.", true},
	{Slow, "An answer comes after Delays.Slow.", false},
	{Unavailable, "A request is answered with 503 and Retry-After.", false},
	{ConnectionCut, "The connection is closed instead of an answer; the request is not handled.", false},
}

// known maps the quirks to their descriptions.
var known = func() map[Quirk]Info {
	m := make(map[Quirk]Info, len(Quirks))
	for _, info := range Quirks {
		m[info.Quirk] = info
	}
	return m
}()

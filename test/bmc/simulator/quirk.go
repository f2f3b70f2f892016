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
	// Rows are the numbers of the known misbehaviours of real BMCs that it plays.
	// There are 71, in the order of bmc/quirks; none for what was made up.
	Rows []int
}

// basicQuirks are those that need more than a [trait]: their topic asks for them.
var basicQuirks = []Info{
	{PowerStaysOn, "A request to switch off is accepted, and the machine stays on.", false, nil},
	{PowerStaysOff, "A request to switch on is accepted, and the machine stays off.", false, nil},
	{GracefulIgnored, "A graceful shutdown or restart is accepted, and nothing happens.", false, nil},
	{GracefulUnsupported, "Graceful resets are not listed, and refused with 400.", true, nil},
	{WrongPowerState, "A read of the system shows On for Off and Off for On.", false, nil},
	{NoPowerState, "A read of the system shows a PowerState of null.", false, nil},
	{BootIgnored, "A boot override is accepted and not kept.", false, nil},
	{BootLost, "A continuous boot override is forgotten at the next boot.", false, []int{30}},
	{NoHTTPBoot, "UefiHttp is not among the boot targets, and HttpBootUri is missing.", true, nil},
	{MediaNotInserted, "InsertMedia is accepted, and the slot stays empty.", false, nil},
	{MediaNotEjected, "EjectMedia is accepted, and the medium stays.", false, []int{11}},
	{MediaNeedsTransfer, "InsertMedia is refused without TransferProtocolType.", true, []int{55}},
	{MediaOnManager, "Virtual media are found below the manager only.", true, []int{9}},
	{MediaByPatch, "Virtual media have no actions; they are changed by PATCH.", true, []int{28}},
	{NoBIOS, "The system has no Bios.", true, nil},
	{NoBIOSRegistry, "The Bios names an attribute registry that is not served.", true, nil},
	{BIOSNotApplied, "Pending BIOS settings are dropped at the reset that should apply them.", false, nil},
	{NoSecureBoot, "The system has no SecureBoot.", true, nil},
	{NoStorage, "The system has no Storage.", true, nil},
	{NoRAIDType, "Volumes and controllers do not show RAID types.", true, nil},
	{NoEventService, "The service root has no EventService.", true, nil},
	{EventLost, "An event is not delivered.", false, nil},
	{NoUpdateService, "The service root has no UpdateService.", true, nil},
	{FirmwareUnchanged, "An update's task completes, and the version stays.", false, nil},
	{TaskWithoutLocation, "202 comes without a Location header.", false, nil},
	{TaskLost, "A new task is forgotten at once: its monitor answers 404, its work is done.", false, []int{60}},
	{TaskFails, "A task ends in Exception, and its work is not done.", false, nil},
	{NoBootProgress, "The system has no BootProgress.", true, nil},
	{NoSessions, "Sessions are refused with 405; basic authentication works.", true, nil},
	{SessionLost, "A request with a session's token is answered with 401, and the session is gone.", false, nil},
	{ETagRequired, "A PATCH without If-Match is refused with 428.", true, []int{6}},
	{Slow, "An answer comes after Delays.Slow.", false, nil},
	{Unavailable, "A request is answered with 503 and Retry-After.", false, nil},
	{ConnectionCut, "The connection is closed instead of an answer; the request is not handled.", false, nil},
}

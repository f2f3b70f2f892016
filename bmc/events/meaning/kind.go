package meaning

// Kind is what an event is about.
type Kind string

// The kinds.
const (
	// Power: the host was switched on or off, or was reset.
	Power Kind = "Power"
	// Boot: the firmware reached a stage of the boot.
	Boot Kind = "Boot"
	// Task: a task, job or update went on.
	Task Kind = "Task"
	// Health: a part is worse or better than it was.
	Health Kind = "Health"
	// Log: something was written into a log.
	Log Kind = "Log"
	// Other: nothing that anybody waits for.
	Other Kind = "Other"
	// Look is no event's kind: events may have been missed, so that everything is
	// to be read which events would have told.
	Look Kind = "Look"
)

// Read is what is asked for because of an event.
type Read string

// The reads.
const (
	ReadNode   Read = "the node in Ironic"
	ReadHealth Read = "the health of the parts"
	ReadLog    Read = "the new log entries"
)

// Reads are the reads that each kind causes.
var Reads = map[Kind][]Read{
	Power:  {ReadNode},
	Boot:   {ReadNode},
	Task:   {ReadNode},
	Health: {ReadHealth},
	Log:    {ReadLog},
	Other:  nil,
	Look:   {ReadNode, ReadHealth, ReadLog},
}

// Severity is how bad an event is.
type Severity string

// The severities of Redfish, from good to bad.
const (
	OK       Severity = "OK"
	Warning  Severity = "Warning"
	Critical Severity = "Critical"
)

// severities are the words that BMCs use besides.
var severities = map[string]Severity{
	"ok": OK, "normal": OK, "informational": OK, "information": OK, "info": OK, "repaired": OK,
	"warning": Warning, "caution": Warning, "minor": Warning, "degraded": Warning,
	"critical": Critical, "major": Critical, "fatal": Critical, "failed": Critical, "failure": Critical, "error": Critical,
	"nonrecoverable": Critical, "non-recoverable": Critical,
}

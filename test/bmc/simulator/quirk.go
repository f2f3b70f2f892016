package simulator

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Quirk is a way in which a system misbehaves. It strikes a number of times, or
// always; [System.Quirks] and [Server.SetQuirk] switch it on. A quirk of a service
// that systems share (events, updates, sessions) shows only where a server has a
// single system, as most BMCs do.
type Quirk string

// Always is the number of times of a quirk that never ends.
const Always = -1

// The quirks. [Quirks] says what each does.
const (
	GracefulIgnored     Quirk = "graceful-ignored"
	GracefulUnsupported Quirk = "graceful-unsupported"
	NoPowerState        Quirk = "no-power-state"
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

// Info describes a quirk. Each is there because a row of bmc/quirks, with the BMCs that are
// known for it, names it.
type Info struct {
	Quirk Quirk
	// Text says what the BMC does, as a sentence.
	Text string
	// Shape says that it changes what resources look like rather than what
	// requests do: then it is on while its number is not zero, and never used up.
	Shape bool
}

// basicQuirks are those that need more than a [trait]: their topic asks for them.
var basicQuirks = []Info{
	{GracefulIgnored, "A graceful shutdown or restart is accepted, and nothing happens.", false},
	{GracefulUnsupported, "Graceful resets are not listed, and refused with 400.", true},
	{NoPowerState, "A read of the system shows a PowerState of null.", false},
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

// trait is how a quirk shows in requests and answers, where that can be said
// without the topic's help. The server's lock is held in its functions.
type trait struct {
	// at are the requests that it concerns: verb and path pattern, in which *
	// stands for anything.
	at []string
	// when narrows them down; nil is always.
	when func(c *call) bool
	// absent answers as if the request were not known: 405, and Allow lacks it.
	absent bool
	// refuse answers instead of the handler, unless nil is returned.
	refuse func(c *call) error
	// reshape changes what an answer shows. Lists and objects below the body may
	// be shared: they are replaced, not changed.
	reshape func(c *call, body object)
	// write writes the answer instead.
	write func(w http.ResponseWriter, r *http.Request, raw []byte)
}

// oddity is a quirk with its trait.
type oddity struct {
	Info
	trait
}

// oddities are the quirks with traits, by topic.
var oddities = slices.Concat(accountOddities, etagOddities, eventOddities, mediaOddities, systemOddities, settingsOddities, answerOddities)

// Quirks are all quirks. docs/machines.md has this table.
var Quirks = func() []Info {
	list := slices.Clone(basicQuirks)
	for _, o := range oddities {
		list = append(list, o.Info)
	}
	return list
}()

// known maps the quirks to their descriptions.
var known = func() map[Quirk]Info {
	m := make(map[Quirk]Info, len(Quirks))
	for _, info := range Quirks {
		m[info.Quirk] = info
	}
	return m
}()

// errCut drops the connection instead of an answer.
var errCut = errors.New("the connection is cut")

// concerns says whether a trait is about requests of the pattern.
func (t trait) concerns(pattern string) bool {
	return slices.ContainsFunc(t.at, func(glob string) bool { return matches(glob, pattern) })
}

// matches compares a pattern with one in which * stands for anything.
func matches(glob, pattern string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == pattern
	}
	rest, ok := strings.CutPrefix(pattern, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		rest, ok = after, ok && found
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

// active yields the traits that are on for the system of a call and concern the
// pattern; the lock is held.
func (c *call) active(pattern string, yield func(o oddity) bool) {
	if c.of == nil || len(c.of.quirks) == 0 {
		return
	}
	for _, o := range oddities {
		if c.of.has(o.Quirk) && c.of.inScope(o.Quirk, c.r.URL.Path) && o.concerns(pattern) && !yield(o) {
			return
		}
	}
}

// inScope says whether a quirk is on at an address; see [Server.SetQuirkAt].
func (sys *system) inScope(q Quirk, address string) bool {
	prefix, narrowed := sys.scopes[q]
	return !narrowed || strings.HasPrefix(address, prefix)
}

// hits says whether a trait strikes now, and counts it unless it is a shape.
func (c *call) hits(o oddity) bool {
	if o.when != nil && !o.when(c) {
		return false
	}
	return o.Shape || c.of.strikes(o.Quirk)
}

// objection is what the traits have against a request; the lock is held.
func (c *call) objection() error {
	var err error
	c.active(c.pattern, func(o oddity) bool {
		switch {
		case o.absent && c.hits(o):
			err = fault(http.StatusMethodNotAllowed, notAllowed, "%s is not allowed on %s.", c.r.Method, c.r.URL.Path)
		case o.refuse != nil && c.hits(o):
			err = o.refuse(c)
		}
		return err == nil
	})
	return err
}

// reshape lets the traits change what is shown; the lock is held. A quiet look
// uses nothing up.
func (c *call) reshape(pattern string, body object, quiet bool) {
	if body == nil {
		return
	}
	c.active(pattern, func(o oddity) bool {
		if o.reshape == nil || (quiet && !o.Shape) {
			return true
		}
		if c.hits(o) {
			o.reshape(c, body)
		}
		return true
	})
}

// writer is a quirk that takes the writing of the answer over, or nil; the lock is
// held.
func (c *call) writer() func(w http.ResponseWriter, r *http.Request, raw []byte) {
	var write func(w http.ResponseWriter, r *http.Request, raw []byte)
	c.active(c.pattern, func(o oddity) bool {
		if o.write != nil && c.hits(o) {
			write = o.write
		}
		return write == nil
	})
	return write
}

// offered says whether the traits leave a request on offer; the lock is held.
func (c *call) offered(pattern string) bool {
	there := true
	c.active(pattern, func(o oddity) bool {
		there = !o.absent
		return there
	})
	return there
}

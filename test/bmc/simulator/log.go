package simulator

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var logRoutes = map[string]handler{
	"GET /redfish/v1/Systems/{system}/LogServices":                                  listLogs,
	"GET /redfish/v1/Systems/{system}/LogServices/SEL":                              getLog,
	"POST /redfish/v1/Systems/{system}/LogServices/SEL/Actions/LogService.ClearLog": clearLog,
	"GET /redfish/v1/Systems/{system}/LogServices/SEL/Entries":                      listEntries,
	"GET /redfish/v1/Systems/{system}/LogServices/SEL/Entries/{entry}":              getEntry,

	"GET /redfish/v1/Managers/{system}/LogServices":                                  listLogs,
	"GET /redfish/v1/Managers/{system}/LogServices/SEL":                              getLog,
	"POST /redfish/v1/Managers/{system}/LogServices/SEL/Actions/LogService.ClearLog": clearLog,
	"GET /redfish/v1/Managers/{system}/LogServices/SEL/Entries":                      listEntries,
	"GET /redfish/v1/Managers/{system}/LogServices/SEL/Entries/{entry}":              getEntry,
}

// logHome is where the request found the log: Systems or Managers, with the Id.
// The two have the same.
func (c *call) logHome(more ...string) string {
	home := "Systems"
	if strings.HasPrefix(c.r.URL.Path, path("Managers")) {
		home = "Managers"
	}
	return path(append([]string{home, c.sys.idIn(home), "LogServices"}, more...)...)
}

// Entry is an entry of a log, as a test writes it.
type Entry struct {
	Event

	// Created is when it happened; now when zero.
	Created time.Time
	// Resolved entries have been dealt with.
	Resolved bool
}

// AddLog writes entries into a system's log without sending them to subscribers.
func (s *Server) AddLog(id string, entries ...Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		sys.log.put(entry{Event: e.Event, number: s.next(), at: cmp.Or(e.Created, time.Now()), resolved: e.Resolved})
	}
	return nil
}

// keptEntries is how many entries a log holds; the oldest make room.
const keptEntries = 100

// journal is the event log of a system.
type journal struct {
	entries []entry
}

type entry struct {
	Event
	number   int
	at       time.Time
	resolved bool
}

func (j *journal) add(number int, event Event) entry {
	return j.put(entry{Event: event, number: number, at: time.Now()})
}

func (j *journal) put(e entry) entry {
	j.entries = append(j.entries, e)
	if len(j.entries) > keptEntries {
		j.entries = j.entries[1:]
	}
	return e
}

func listLogs(c *call) (reply, error) {
	return ok(collection("LogService", "Log Services", c.logHome(), []object{{"@odata.id": c.logHome("SEL")}}))
}

func getLog(c *call) (reply, error) {
	address := c.logHome("SEL")
	return ok(resource("LogService.v1_7_0.LogService", "SEL", "System Event Log", address, object{
		"ServiceEnabled": true, "LogEntryType": "Event", "MaxNumberOfRecords": keptEntries, "OverWritePolicy": "WrapsWhenFull",
		"DateTime": time.Now().UTC().Format(time.RFC3339), "Status": status("OK"),
		"Entries": object{"@odata.id": address + "/Entries"},
		"Actions": object{"#LogService.ClearLog": object{"target": address + "/Actions/LogService.ClearLog"}},
	}))
}

func clearLog(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.sys.log.entries = nil
	return reply{status: http.StatusNoContent}, nil
}

// listEntries lists the whole entries, as DSP0266 allows and BMCs do.
func listEntries(c *call) (reply, error) {
	members := make([]object, 0, len(c.sys.log.entries))
	for _, e := range c.sys.log.entries {
		members = append(members, c.entryObject(e))
	}
	return ok(collection("LogEntry", "Log Entries", c.logHome("SEL", "Entries"), members))
}

func (c *call) entryObject(e entry) object {
	id := strconv.Itoa(e.number)
	return resource("LogEntry.v1_17_0.LogEntry", id, "Entry "+id, c.logHome("SEL", "Entries", id), object{
		"EntryType": "Event", "Created": e.at.UTC().Format(time.RFC3339), "Severity": e.Severity, "Message": e.Message, "MessageId": e.MessageID, "Resolved": e.resolved,
	})
}

func getEntry(c *call) (reply, error) {
	for _, e := range c.sys.log.entries {
		if strconv.Itoa(e.number) == c.r.PathValue("entry") {
			return ok(c.entryObject(e))
		}
	}
	return reply{}, notFound(c.r.URL.Path)
}

package simulator

import (
	"net/http"
	"strconv"
	"time"
)

var logRoutes = map[string]handler{
	"GET /redfish/v1/Systems/{system}/LogServices":                                  listLogs,
	"GET /redfish/v1/Systems/{system}/LogServices/SEL":                              getLog,
	"POST /redfish/v1/Systems/{system}/LogServices/SEL/Actions/LogService.ClearLog": clearLog,
	"GET /redfish/v1/Systems/{system}/LogServices/SEL/Entries":                      listEntries,
	"GET /redfish/v1/Systems/{system}/LogServices/SEL/Entries/{entry}":              getEntry,
}

// keptEntries is how many entries a log holds; the oldest make room.
const keptEntries = 100

// journal is the event log of a system.
type journal struct {
	entries []entry
}

type entry struct {
	Event
	number int
	at     time.Time
}

func (j *journal) add(number int, event Event) entry {
	e := entry{Event: event, number: number, at: time.Now()}
	j.entries = append(j.entries, e)
	if len(j.entries) > keptEntries {
		j.entries = j.entries[1:]
	}
	return e
}

func listLogs(c *call) (reply, error) {
	return ok(collection("LogService", "Log Services", path("Systems", c.sys.ID, "LogServices"), links([]string{"SEL"}, "Systems", c.sys.ID, "LogServices")))
}

func getLog(c *call) (reply, error) {
	address := path("Systems", c.sys.ID, "LogServices", "SEL")
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
	return ok(collection("LogEntry", "Log Entries", path("Systems", c.sys.ID, "LogServices", "SEL", "Entries"), members))
}

func (c *call) entryObject(e entry) object {
	id := strconv.Itoa(e.number)
	return resource("LogEntry.v1_17_0.LogEntry", id, "Entry "+id, path("Systems", c.sys.ID, "LogServices", "SEL", "Entries", id), object{
		"EntryType": "Event", "Created": e.at.UTC().Format(time.RFC3339), "Severity": e.Severity, "Message": e.Message, "MessageId": e.MessageID,
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

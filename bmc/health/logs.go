package health

import (
	"context"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// logNames are the logs that tell of the hardware, best first: HPE's IML, the usual
// ones, Supermicro's, OpenBMC's, Lenovo's.
var logNames = []string{"IML", "SEL", "Log1", "EventLog", "PlatformLog", "StandardLog", "ActiveLog", "Event", "FaultList"}

// logService is a LogService.
type logService struct {
	Entries lenient.Link `json:"Entries"`
}

// logs reads what is new in the logs that were read before, or finds one first.
func (r *reader) logs(ctx context.Context, s *system) error {
	var known []string
	for path := range r.options.Past.Logs {
		known = append(known, path)
	}
	slices.Sort(known)
	if len(known) == 0 {
		path, err := r.findLog(ctx, s)
		if err != nil || path == "" {
			return err
		}
		known = []string{path}
	}
	for _, path := range known {
		l, err := r.entries(ctx, path)
		if err != nil {
			return err
		}
		r.out.Logs = append(r.out.Logs, l)
	}
	return nil
}

// findLog returns the path of the entries of the system's log, else of its manager's;
// empty where there is none.
func (r *reader) findLog(ctx context.Context, s *system) (string, error) {
	if path, err := r.logOf(ctx, s.LogServices.Path); path != "" || err != nil {
		return path, err
	}
	managed := r.options.Report.Manager
	if managed == "" && len(s.Links.ManagedBy) > 0 {
		managed = s.Links.ManagedBy[0].Path
	}
	if managed == "" {
		return "", nil
	}
	var m manager
	if err := r.get(ctx, managed, &m); err != nil {
		return "", err
	}
	return r.logOf(ctx, m.LogServices.Path)
}

// logOf chooses among the services of a collection, by name.
func (r *reader) logOf(ctx context.Context, services string) (string, error) {
	if services == "" {
		return "", nil
	}
	paths, _, err := r.members(ctx, services)
	if err != nil {
		return "", absent(err)
	}
	for _, name := range logNames {
		for _, path := range paths {
			path = strings.TrimSuffix(path, "/")
			if !strings.EqualFold(path[strings.LastIndexByte(path, '/')+1:], name) {
				continue
			}
			var service logService
			if err := r.get(ctx, path, &service); err != nil {
				return "", absent(err)
			}
			return service.Entries.Path, nil
		}
	}
	return "", nil
}

// absent turns the error of what the BMC does not have into none.
func absent(err error) error {
	if client.KindOf(err) == client.NotSupported {
		return nil
	}
	return err
}

// logEntry is a LogEntry, in the forms that BMCs have.
type logEntry struct {
	common

	Created         lenient.Time                 `json:"Created"`
	EventTimestamp  lenient.Time                 `json:"EventTimestamp"`
	Severity        lenient.String               `json:"Severity"`
	MessageSeverity lenient.String               `json:"MessageSeverity"`
	Message         lenient.String               `json:"Message"`
	MessageID       lenient.String               `json:"MessageId"`
	Args            lenient.List[lenient.String] `json:"MessageArgs"`
	Resolved        lenient.Bool                 `json:"Resolved"`
	Oem             struct {
		Hpe struct {
			Repaired lenient.Bool `json:"Repaired"`
		} `json:"Hpe"`
	} `json:"Oem"`
}

// bare says that it is only a link to the entry.
func (e *logEntry) bare() bool {
	return e.ODataID != "" && e.Message == "" && e.MessageID == "" && e.Severity == "" && e.Created.IsZero()
}

func (e *logEntry) entry(service string) rules.Entry {
	out := rules.Entry{
		Service: service, ID: clip(string(e.ID)), Created: e.Created.Time, Message: clip(string(e.Message)), MessageID: clip(string(e.MessageID)),
		Resolved: bool(e.Resolved || e.Oem.Hpe.Repaired), Severity: v1alpha1.HealthOK,
	}
	if out.Created.IsZero() {
		out.Created = e.EventTimestamp.Time
	}
	if out.ID == "" {
		path := strings.TrimSuffix(string(e.ODataID), "/")
		out.ID = clip(path[strings.LastIndexByte(path, '/')+1:])
	}
	if out.Message == "" {
		var text strings.Builder
		text.WriteString(string(e.MessageID))
		for _, arg := range e.Args {
			text.WriteString(" " + string(arg))
		}
		out.Message = clip(text.String())
	}
	for _, word := range []lenient.String{e.Severity, e.MessageSeverity} {
		if state := rules.State(string(word)); state != "" {
			out.Severity = state
			break
		}
	}
	return out
}

package machine

import "slices"

// State is what a machine is doing, as somebody in front of it would see.
type State string

// The states of a machine.
const (
	// Off: no power.
	Off State = "off"
	// POST: the firmware tests itself and then looks for something to boot.
	POST State = "post"
	// Reading: the BMC reads the virtual medium.
	Reading State = "reading"
	// Booting: the live system starts from what was read.
	Booting State = "booting"
	// Live: the live system runs in memory, with its IPA.
	Live State = "live"
	// DiskBooting: the installed system starts.
	DiskBooting State = "disk-booting"
	// Installed: the installed system runs.
	Installed State = "installed"
	// Stuck: the power is on and nothing happens; the reason says why.
	Stuck State = "stuck"
)

// Event is what moves a machine from one state to the next.
type Event string

// The events of a machine. The first three come from its BMC or from itself,
// the others are how the work in a state ends.
const (
	// PowerOn, PowerOff and Restart switch the power.
	PowerOn  Event = "power on"
	PowerOff Event = "power off"
	Restart  Event = "restart"
	// FoundMedium and FoundDisk are what the firmware boots.
	FoundMedium Event = "boots the medium"
	FoundDisk   Event = "boots the disk"
	// Read: the medium was read completely.
	Read Event = "medium read"
	// Up: the system has started.
	Up Event = "started"
	// Failed: it goes no further.
	Failed Event = "fails"
)

// table holds for each state the states that follow on events. An event that a
// state does not name changes nothing there.
var table = map[State]map[Event]State{
	Off:         {PowerOn: POST, Restart: POST},
	POST:        {FoundMedium: Reading, FoundDisk: DiskBooting, Failed: Stuck, PowerOff: Off, Restart: POST},
	Reading:     {Read: Booting, Failed: Stuck, PowerOff: Off, Restart: POST},
	Booting:     {Up: Live, Failed: Stuck, PowerOff: Off, Restart: POST},
	Live:        {Failed: Stuck, PowerOff: Off, Restart: POST},
	DiskBooting: {Up: Installed, PowerOff: Off, Restart: POST},
	Installed:   {PowerOff: Off, Restart: POST},
	Stuck:       {PowerOff: Off, Restart: POST},
}

// next returns the state that follows, and whether the event means anything here.
func next(s State, e Event) (State, bool) {
	to, ok := table[s][e]
	return to, ok
}

// States lists all states in the order of a machine's life.
func States() []State {
	return []State{Off, POST, Reading, Booting, Live, DiskBooting, Installed, Stuck}
}

// Transition is one row of the state table.
type Transition struct {
	From State
	On   Event
	To   State
}

// Transitions lists the table in a fixed order, for the documentation.
func Transitions() []Transition {
	events := []Event{PowerOn, FoundMedium, Read, FoundDisk, Up, Failed, PowerOff, Restart}
	var out []Transition
	for _, from := range States() {
		for _, on := range events {
			if to, ok := next(from, on); ok {
				out = append(out, Transition{from, on, to})
			}
		}
	}
	return slices.Clip(out)
}

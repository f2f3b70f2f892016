package hostfile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Parts of the life of an installation, as the agent names them in its status
// text. "starting" is everything before sd_notify's READY=1.
const (
	PartStarting   = "starting"
	PartWaiting    = "waiting"
	PartInstalling = "installing"
	PartEnding     = "ending"
)

// Status is what the agent says about itself: with its fields in [StatusFile], which
// the step reads, and in one line with sd_notify's STATUS=, which people read:
//
//	waiting: the host waits for approval; approve it in the hub [12:05:31]
//	installing: Writing image to disk 45% (to /dev/sda) [12:07:02]
//	installing: (the hub's own installer is at work) [12:09:00]
//
// systemd announces a status only when the text differs from the one before.
// The time at the end makes each renewal a new text, and so a sign of life; an
// agent renews at least every 5 minutes.
type Status struct {
	// Part is one of the Part constants; empty for a text of another form.
	Part string `json:"part,omitempty"`
	// Stage is the hub's name of the installation stage, only with PartInstalling and
	// PartEnding. It is empty where somebody else reports the stages to the hub.
	Stage string `json:"stage,omitempty"`
	// Percent is the progress within the stage, 0 to 100; -1 when unknown.
	Percent int `json:"percent"`
	// Text is for people: what is waited for and who can end it, or a detail of the stage.
	Text string `json:"text,omitempty"`
	// At is when the agent said so; in the line only the time of day (UTC) travels.
	At time.Time `json:"at,omitzero"`
}

var (
	statusForm = regexp.MustCompile(`^(starting|waiting|installing|ending): (.*?)(?: \[(\d\d:\d\d:\d\d)\])?$`)
	stageForm  = regexp.MustCompile(`^(.*?)(?:(?:^| )(\d{1,3})%)?(?:(?:^| )\((.*)\))?$`)
)

// String renders the status in one line that systemd takes: it drops a text that is no
// UTF-8, or has a zero byte, and the agent would look silent.
func (s Status) String() string {
	var b strings.Builder
	b.WriteString(s.Part + ": ")
	if s.Part == PartInstalling || s.Part == PartEnding {
		b.WriteString(s.Stage)
		if s.Percent >= 0 {
			fmt.Fprintf(&b, " %d%%", min(s.Percent, 100))
		}
		if s.Text != "" {
			b.WriteString(" (" + s.Text + ")")
		}
	} else {
		b.WriteString(s.Text)
	}
	if !s.At.IsZero() {
		b.WriteString(" [" + s.At.UTC().Format(time.TimeOnly) + "]")
	}
	line := strings.Join(strings.Fields(strings.ToValidUTF8(b.String(), "\uFFFD")), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, line)
}

// ParseStatus reads a unit's StatusText, for an agent that keeps no [StatusFile].
// A text of another form (a foreign agent, an empty one) comes back whole as Text,
// with an empty Part.
func ParseStatus(text string) Status {
	m := statusForm.FindStringSubmatch(text)
	if m == nil {
		return Status{Percent: -1, Text: text}
	}
	s := Status{Part: m[1], Percent: -1}
	if m[3] != "" {
		// The form was matched above; a time such as 99:99:99 stays zero.
		s.At, _ = time.Parse(time.TimeOnly, m[3])
	}
	if s.Part != PartInstalling && s.Part != PartEnding {
		s.Text = m[2]
		return s
	}
	stage := stageForm.FindStringSubmatch(m[2])
	s.Stage, s.Text = stage[1], stage[3]
	if stage[2] != "" {
		s.Percent, _ = strconv.Atoi(stage[2])
		s.Percent = min(s.Percent, 100)
	}
	return s
}

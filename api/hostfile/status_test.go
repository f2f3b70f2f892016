package hostfile_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

func TestStatusText(t *testing.T) {
	at := time.Date(0, 1, 1, 12, 5, 31, 0, time.UTC)
	for name, tc := range map[string]struct {
		status hostfile.Status
		text   string
	}{
		"waiting":          {hostfile.Status{Part: "waiting", Percent: -1, Text: "approve the host (in the hub)", At: at}, "waiting: approve the host (in the hub) [12:05:31]"},
		"starting":         {hostfile.Status{Part: "starting", Percent: -1, Text: "inventory"}, "starting: inventory"},
		"stage":            {hostfile.Status{Part: "installing", Stage: "Writing image to disk", Percent: 45, Text: "to /dev/sda", At: at}, "installing: Writing image to disk 45% (to /dev/sda) [12:05:31]"},
		"stage only":       {hostfile.Status{Part: "installing", Stage: "Rebooting", Percent: -1}, "installing: Rebooting"},
		"no stage":         {hostfile.Status{Part: "installing", Percent: -1, Text: "to /dev/sda (slow)", At: at}, "installing: (to /dev/sda (slow)) [12:05:31]"},
		"percent only":     {hostfile.Status{Part: "installing", Percent: 7}, "installing: 7%"},
		"percent, no text": {hostfile.Status{Part: "ending", Stage: "Done", Percent: 100}, "ending: Done 100%"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.status.String()).To(Equal(tc.text))
			g.Expect(hostfile.ParseStatus(tc.text)).To(Equal(tc.status))
		})
	}
}

func TestStatusOfAnotherForm(t *testing.T) {
	g := NewWithT(t)
	for _, text := range []string{"", "polling 15", "installing", "installing:x", "\xff\xfe"} {
		g.Expect(hostfile.ParseStatus(text)).To(Equal(hostfile.Status{Percent: -1, Text: text}))
	}
	g.Expect(hostfile.ParseStatus("installing: Installing 999%").Percent).To(Equal(100))
	g.Expect(hostfile.Status{Part: "waiting", Text: "two\nlines"}.String()).To(Equal("waiting: two lines"))
}

// TestStatusOfHostileText: systemd drops a text that is no UTF-8, and a datagram with a zero byte. The agent would look
// silent, and a step gives up on a silent agent. What a broken proxy answers may have both.
func TestStatusOfHostileText(t *testing.T) {
	for text, want := range map[string]string{
		"polling fails: malformed \xe9tat": "waiting: polling fails: malformed \uFFFDtat",
		"a\x00b\x1b[31mc\td\u0085e\u2028f": "waiting: ab[31mc d e f",
	} {
		NewWithT(t).Expect(hostfile.Status{Part: "waiting", Percent: -1, Text: text}.String()).To(Equal(want))
	}
}

// TestStatusWithoutAStage: a text in brackets is no stage.
func TestStatusWithoutAStage(t *testing.T) {
	g := NewWithT(t)
	s := hostfile.Status{Part: hostfile.PartInstalling, Percent: -1, Text: "the hub's own installer is at work: quay.example/installer:v2"}
	g.Expect(hostfile.ParseStatus(s.String())).To(Equal(s))
}

// FuzzParseStatus: whatever a unit's text says, reading it and writing it again
// settles: nothing moves between stage and text.
func FuzzParseStatus(f *testing.F) {
	for _, text := range []string{
		"installing: Writing image to disk 45% (to /dev/sda) [12:05:31]", "installing: (x)", "installing: 7%", "ending: 7% (a) (b)",
		"waiting: approve (in the hub) [25:00:00]", "installing: a 999% (b", "installing:  [12:05:31]", "\xff\xfe",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := hostfile.ParseStatus(hostfile.ParseStatus(text).String())
		if twice := hostfile.ParseStatus(once.String()); once.Part != "" && twice != once {
			t.Errorf("%q: %+v became %+v", text, once, twice)
		}
	})
}

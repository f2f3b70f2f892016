package urlcheck

import (
	"regexp"
	"strings"
)

// Verdict is what an Ironic found at an address.
type Verdict string

// The verdicts.
const (
	// Reached: Ironflow has answered.
	Reached Verdict = "reached"
	// Untrusted: a server answers, and Ironic refuses its certificate or its version of TLS.
	Untrusted Verdict = "untrusted"
	// Other: a server answers that is none of Ironflow's.
	Other Verdict = "other"
	// Unreached: nobody answers.
	Unreached Verdict = "unreached"
	// Unknown: Ironic did not say.
	Unknown Verdict = "unknown"
)

// Answer is what an Ironic said of one address.
type Answer struct {
	URL     string
	Verdict Verdict
	// Text is Ironic's own reason; empty for what was reached.
	Text string
}

var (
	// code is the status that a server has answered with.
	code = regexp.MustCompile(`Got HTTP code (\d+)`)
	// reason follows the reference of an image that could not be fetched.
	reason = regexp.MustCompile(`(?s)(?:Validation of image href|Failed to download image) .+?, reason: (.*)`)
)

// goesOn matches what Ironic fails with once it has fetched a file: the BMC cannot be connected to, or, in older releases,
// the driver for Redfish does not insert media.
var goesOn = regexp.MustCompile(`Redfish connection failed|does not support attach_virtual_media`)

// judge reads a node's last error after Ironic was to fetch from an address: what it found there, and whether it has
// fetched a file.
func judge(url, lastError string) (a Answer, fetched bool) {
	a = Answer{URL: url, Verdict: Unknown, Text: strings.TrimSpace(lastError)}
	if goesOn.MatchString(a.Text) {
		return Answer{url, Other, "it answers with a file"}, true
	}
	if m := reason.FindStringSubmatch(a.Text); m != nil {
		a.Verdict, a.Text = Unreached, strings.TrimSpace(m[1])
	}
	if m := code.FindStringSubmatch(a.Text); m != nil {
		if m[1] == "410" {
			return Answer{URL: url, Verdict: Reached}, false
		}
		return Answer{url, Other, "it answers " + m[1]}, false
	}
	switch {
	case a.Verdict != Unreached:
	case strings.Contains(a.Text, "SSL"):
		a.Verdict = Untrusted
	case strings.Contains(a.Text, "Content-Length"): // of an answer 200
		a.Verdict = Other
	}
	if a.Text == "" {
		a.Text = "it records no reason"
	}
	return a, false
}

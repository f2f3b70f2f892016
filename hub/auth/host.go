package auth

// hostPrefix starts tokens that are one host's own.
const hostPrefix = "ifh1."

// Own tells that it is the token of one host, and not that of all hosts of an infra-env.
func (c Claims) Own() bool { return c.HostID != "" || c.Machine != "" }

// Bearer is what the record of a host keeps of who speaks for it. The zero value is a
// host for which every agent of its infra-env may speak.
type Bearer struct {
	// Machine is whose image it was that the host registered from; empty for the image of
	// an infra-env.
	Machine string `json:",omitempty"`
	// Serial is that of the host's last registration from the image of an infra-env.
	Serial int64 `json:",omitempty"`
	// Exchanged tells that the agent of this registration has taken a token of the host's own.
	Exchanged bool `json:",omitempty"`
}

// Takes reports whether an agent with the token speaks for the host. A serial above the
// known one is good, too: the hub has made it, and its store was put back to an earlier day.
func (b Bearer) Takes(hostID string, c Claims) bool {
	switch {
	case c.HostID != "":
		return c.HostID == hostID && b.Machine == "" && c.Serial >= b.Serial
	case c.Machine != "" || b.Machine != "":
		return c.Machine == b.Machine
	}
	return !b.Exchanged
}

// Outlived reports whether the token was the host's own until another registration took
// its place: two machines say that they are the host.
func (b Bearer) Outlived(hostID string, c Claims) bool {
	return c.HostID != "" && c.HostID == hostID && c.Serial < b.Serial
}

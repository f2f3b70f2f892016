package ignition

import (
	_ "embed" // the script
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Nmstate is what the live system sets up of the network by itself, beside keyfiles.
type Nmstate struct {
	// Cards are addresses; it is for the machine that has one of them. None means any
	// machine.
	Cards []string
	// Document is nmstate's, applied by the live system's nmstatectl; empty for none.
	Document string
	// Hostname is the name of that machine; empty for none.
	Hostname string
	// Refused says why that machine has none of its network, for its console; empty for
	// nothing.
	Refused string
}

//go:embed nmstate.sh
var applyNmstate string

const (
	nmstateFolder = hostfile.NmstateFolder
	nmstateScript = "/usr/local/bin/ironflow-nmstate.sh"
)

// nmstateService sets the network up before anybody waits for it. What fails is told on
// the console: nobody else would hear of it.
const nmstateService = `[Unit]
Description=Set up the network with nmstatectl
Requires=NetworkManager.service
After=NetworkManager.service
Before=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
StandardOutput=journal+console
StandardError=journal+console
ExecStart=/bin/bash ` + nmstateScript + `

[Install]
WantedBy=network-online.target multi-user.target
`

// nmstate adds the documents, and what applies them.
func (c HostConfig) nmstate(l *layer) {
	if len(c.Nmstate) == 0 {
		return
	}
	for n, one := range c.Nmstate {
		name := fmt.Sprintf("%s/host%d", nmstateFolder, n)
		if one.Document != "" {
			l.file(name+".yml", 0o600, one.Document)
		}
		if one.Hostname != "" {
			l.file(name+".hostname", 0o644, one.Hostname+"\n")
		}
		if one.Refused != "" {
			l.file(name+".refused", 0o600, one.Refused+"\n")
		}
		if len(one.Cards) > 0 {
			l.file(name+".cards", 0o600, strings.Join(one.Cards, "\n")+"\n")
		}
	}
	l.file(nmstateScript, 0o755, applyNmstate)
	l.unit(hostfile.NmstateUnit, true, nmstateService)
}

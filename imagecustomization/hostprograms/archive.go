// Package hostprograms lets the host agent and the deploy step's program ride
// inside every live image, so that a host at the end of a thin line fetches
// nothing for them. Images of a cluster that installs itself have the hub's
// program beside them.
//
// The programs, and a small unit that hands them to the live system before the
// initrd is left, make one initramfs archive per architecture. All hosts share
// it: it lies in one file, behind each host's own archive of a few KiB. The main
// type is [Archives].
package hostprograms

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"path"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
)

// Places of the members, in the initrd.
const (
	programDir = "usr/lib/ironflow"
	unitDir    = "usr/lib/systemd/system"
	unitName   = "ironflow-programs.service"
	scriptName = "hand-on.sh"
)

//go:embed initrd/ironflow-programs.service
var unit []byte

//go:embed initrd/hand-on.sh
var script []byte

// names are the programs of every image, in the order in which they lie in the archive.
var names = []string{path.Base(hostfile.AgentBinary), path.Base(hostfile.StepBinary)}

// AgentBased are the further programs of an agent-based installation, for [Open]: the hub,
// and what the hosts run beside the agent.
func AgentBased() []string { return []string{"ironflow", "ironflow-agent-based"} }

// Installer is the program openshift-install, for images whose hub makes the Ignition of a
// release by it.
const Installer = "openshift-install"

// InstallerPath is where the live system has it.
const InstallerPath = "/usr/local/bin/" + Installer

// archive packs the programs' contents, in the order of their names. The same programs
// give the same bytes, padded to [embedarea.Alignment].
func archive(names []string, programs [][]byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := cpio.NewWriter(z)
	for i, name := range names {
		if err := w.File(path.Join(programDir, name), 0o755, programs[i]); err != nil {
			return nil, err
		}
	}
	if err := w.File(path.Join(programDir, scriptName), 0o755, script); err != nil {
		return nil, err
	}
	if err := w.File(path.Join(unitDir, unitName), 0o644, unit); err != nil {
		return nil, err
	}
	if err := w.Symlink(path.Join(unitDir, "initrd.target.wants", unitName), "../"+unitName); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	out.Write(make([]byte, -out.Len()&(embedarea.Alignment-1)))
	return out.Bytes(), nil
}

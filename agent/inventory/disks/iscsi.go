package disks

import (
	"path"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// session is the iSCSI session that a disk is reached through.
type session struct {
	// host is the address that this machine speaks from, target the target's name.
	host, target string
	// running is false when the session or the disk is not in working order.
	running bool
}

// iscsiSession finds the session in the disk's path in sysfs, which holds its
// SCSI host and its session: …/host6/session1/target6:0:0/6:0:0:1/block/sda.
func iscsiSession(m source.Machine, name, device string) session {
	var s session
	state := m.Line(blockDir, name, "device/state")
	s.running = state == "" || state == "running"
	for part := range strings.SplitSeq(device, "/") {
		switch {
		case strings.HasPrefix(part, "host"):
			s.host = address(m.Line("/sys/class/iscsi_host", part, "ipaddress"))
		case strings.HasPrefix(part, "session"):
			folder := path.Join("/sys/class/iscsi_session", part)
			s.target = m.Line(folder, "targetname")
			if state := m.Line(folder, "state"); state != "" && state != "LOGGED_IN" {
				s.running = false
			}
			if s.host == "" {
				s.host = connectionAddress(m, strings.TrimPrefix(part, "session"))
			}
		}
	}
	return s
}

// connectionAddress is the local address of the session's first connection.
func connectionAddress(m source.Machine, session string) string {
	return address(m.Line("/sys/class/iscsi_connection", "connection"+session+":0", "local_ipaddr"))
}

// address drops the texts that the kernel writes for "not known".
func address(text string) string {
	if text == "[default]" || text == "<NULL>" || text == "(null)" {
		return ""
	}
	return text
}

package outbox

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// Path is the host path of the file with the replies that wait.
const Path = hostfile.RunDir + "/outbox.json"

// maxFile bounds the replies in the file, in bytes of JSON. It stays below what
// [hostfile.Dir.Read] reads.
const maxFile = 768 << 10

// file keeps the replies of one host in one boot.
type file struct {
	dir  hostfile.Dir
	boot string
	host hubclient.Host
}

// content is what the file holds.
type content struct {
	// BootID and Host tie the replies to one boot and to whom they are about.
	BootID  string            `json:"boot_id"`
	Host    hubclient.Host    `json:"host"`
	Replies []json.RawMessage `json:"replies"`
}

// Restore keeps replies in a file below dir from now on, and takes over what an
// earlier process of this boot had left there for the same host, but for types
// that forget says are out of date. A reply of the same type that waits already
// is newer and stays. Only the first call does anything but to name the host.
func (o *Outbox) Restore(dir hostfile.Dir, host hubclient.Host, forget ...wire.StepType) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.file == nil
	boot, err := dir.BootID()
	if err != nil {
		o.log.Debug("the boot id is not known", "error", err) // the empty one is the same for the whole boot
	}
	o.file = &file{dir: dir, boot: boot, host: host}
	if !first {
		return
	}
	for _, reply := range o.file.read(o.log) {
		if _, newer := o.pending[reply.StepType]; !newer && !slices.Contains(forget, reply.StepType) {
			o.log.Info("a reply of an earlier process is sent", "step", reply.StepType, "id", reply.StepID)
			o.put(reply)
		}
	}
}

// read returns what an earlier process had left.
func (f *file) read(log *slog.Logger) []wire.StepReply {
	var found content
	err := f.dir.Read(Path, &found)
	if errors.Is(err, hostfile.ErrNoState) {
		return nil
	}
	if err != nil {
		log.Warn("the replies of an earlier process cannot be read", "error", err)
		return nil
	}
	if found.BootID != f.boot || found.Host != f.host {
		return nil
	}
	var replies []wire.StepReply
	for _, raw := range found.Replies {
		var reply wire.StepReply
		if err := json.Unmarshal(raw, &reply); err != nil || reply.StepType == "" {
			log.Warn("a reply of an earlier process cannot be read", "error", err)
			continue
		}
		replies = append(replies, reply)
	}
	return replies
}

// keep writes what waits; the caller holds the lock. The smallest come first: a
// huge inventory, of which the hub will ask again, must not push out the others.
func (o *Outbox) keep() {
	if o.file == nil {
		return
	}
	out, size := content{BootID: o.file.boot, Host: o.file.host}, 0
	for _, l := range slices.SortedFunc(maps.Values(o.pending), func(a, b *letter) int { return len(a.reply.Output) - len(b.reply.Output) }) {
		raw, err := json.Marshal(l.reply)
		if err != nil || size+len(raw) > maxFile {
			o.log.Warn("a reply would not survive a restart of the agent", "step", l.reply.StepType, "bytes", len(raw), "error", err)
			continue
		}
		size += len(raw)
		out.Replies = append(out.Replies, raw)
	}
	if err := o.file.dir.Write(Path, out); err != nil {
		o.log.Warn("replies would not survive a restart of the agent", "error", err)
	}
}

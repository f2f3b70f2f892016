package vm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// usbDevice is the id of a USB drive's box, which holds the drive.
	usbDevice = "drive"
	// mediumNode begins the names of the block nodes of media.
	mediumNode = "medium"
	// transferLimit is how long QEMU waits for one answer of the image server, in
	// seconds.
	transferLimit = 30
	// retryInterval is the time between two tries to read a medium.
	retryInterval = time.Second
)

// medium is what is in the drive of a life.
type medium struct {
	// url and node are the medium's; empty for an empty drive.
	url, node string
	// failing is when the medium could first not be read, zero if it can; last is
	// when it was tried last.
	failing, last time.Time
	// retry fires when it is to be tried again; nil for never.
	retry <-chan time.Time
}

// insertFirst puts the medium into the drive before the processors run, and lets
// them run. A medium that cannot be had is tried again for a while.
func (l *life) insertFirst(url string) {
	begun := time.Now()
	for url != "" {
		err := l.insert(url)
		if err == nil || l.ctx.Err() != nil {
			break
		}
		l.machine.record(EventMediumError, err.Error())
		if time.Since(begun) > l.machine.config.MediumPatience {
			break
		}
		select {
		case <-l.ctx.Done():
		case <-time.After(retryInterval):
		}
	}
	l.goOn()
}

// goOn lets the processors run.
func (l *life) goOn() {
	if err := l.qmp.Execute(l.ctx, "cont", nil, nil); err != nil && l.ctx.Err() == nil {
		l.machine.record(EventTrouble, err.Error())
	}
}

// changeMedium makes the drive hold what the BMC shows.
func (m *Machine) changeMedium() {
	if m.life == nil {
		return
	}
	m.mu.Lock()
	board := m.board
	m.mu.Unlock()
	want := decide(m.config, board, nil).medium
	if want == m.life.url {
		return
	}
	m.life.eject()
	if want == "" {
		return
	}
	if err := m.life.insert(want); err != nil && m.life.ctx.Err() == nil {
		m.record(EventMediumError, err.Error())
	}
}

// insert puts a medium into the empty drive: QEMU asks the image server for its
// size, and reads nothing yet.
func (l *life) insert(url string) error {
	node := fmt.Sprintf("%s%d", mediumNode, l.machine.count())
	file := map[string]any{"driver": "http", "url": url, "timeout": transferLimit}
	if strings.HasPrefix(url, "https:") {
		// BMCs know the certificate of no image server.
		file["driver"], file["sslverify"] = "https", false
	}
	err := l.qmp.Execute(l.ctx, "blockdev-add", map[string]any{"driver": "raw", "node-name": node, "read-only": true, "file": file}, nil)
	if err != nil {
		return fmt.Errorf("insert the medium: %w", err)
	}
	err = l.move([]command{
		{"blockdev-open-tray", map[string]any{"id": cdDevice, "force": true}},
		{"blockdev-insert-medium", map[string]any{"id": cdDevice, "node-name": node}},
		{"blockdev-close-tray", map[string]any{"id": cdDevice}},
	})
	if err != nil {
		return fmt.Errorf("insert the medium: %w", err)
	}
	l.medium = medium{url: url, node: node}
	l.machine.record(EventInserted, url)
	return nil
}

// command is one of QEMU's commands.
type command struct {
	name      string
	arguments map[string]any
}

// move runs commands that move the drive's tray, all of them, without taking
// that for the guest's doing.
func (l *life) move(commands []command) error {
	l.moving.Store(true)
	defer l.moving.Store(false)
	var failed []error
	for _, c := range commands {
		failed = append(failed, l.qmp.Execute(l.ctx, c.name, c.arguments, nil))
	}
	return errors.Join(failed...)
}

// eject empties the drive, whatever the guest does with it.
func (l *life) eject() {
	if l.node == "" {
		return
	}
	if l.retry != nil {
		l.giveUp()
		return
	}
	err := l.move([]command{
		{"blockdev-open-tray", map[string]any{"id": cdDevice, "force": true}},
		{"blockdev-remove-medium", map[string]any{"id": cdDevice}},
		{"blockdev-close-tray", map[string]any{"id": cdDevice}},
		{"blockdev-del", map[string]any{"node-name": l.node}},
	})
	if err != nil && l.ctx.Err() == nil {
		l.machine.record(EventTrouble, "eject the medium: "+err.Error())
	}
	l.medium = medium{}
	l.machine.record(EventEjected, "")
}

// readFailed follows a read of the medium that failed: the processors stand
// still, and it is tried again until the patience has ended.
func (l *life) readFailed(reason string) {
	now := time.Now()
	if l.failing.IsZero() || now.Sub(l.last) > 10*retryInterval {
		l.failing = now
		l.machine.record(EventMediumError, reason)
	}
	l.last = now
	if now.Sub(l.failing) > l.machine.config.MediumPatience {
		l.giveUp()
		return
	}
	l.retry = time.After(retryInterval)
}

// giveUp takes the drive off the machine, with the request that it waits for, and
// plugs in an empty one, as a BMC does that has lost its session. Without a medium
// alone QEMU would stop the processors for the same request again.
func (l *life) giveUp() {
	l.medium = medium{}
	// The medium's node stays, unused, until the end of this start: QEMU may need it a little longer.
	err := l.move([]command{
		{"device_del", map[string]any{"id": usbDevice}},
		{"device_add", map[string]any{"driver": "usb-bot", "id": usbDevice, "bus": "usb.0"}},
		{"device_add", map[string]any{"driver": "scsi-cd", "id": cdDevice, "bus": usbDevice + ".0", "scsi-id": 0, "lun": 0, "rerror": "stop"}},
		{"qom-set", map[string]any{"path": "/machine/peripheral/" + usbDevice, "property": "attached", "value": true}},
	})
	if err != nil && l.ctx.Err() == nil {
		l.machine.record(EventTrouble, "take the drive off: "+err.Error())
	}
	l.machine.record(EventMediumError, "given up")
	l.machine.record(EventEjected, "")
	l.goOn()
}

// readAgain tries the read that failed again.
func (l *life) readAgain() {
	l.retry = nil
	l.goOn()
}

// MediumReads are the bytes and the requests that the machine has read from the
// virtual medium since the last start; none for a machine that is off.
func (m *Machine) MediumReads(ctx context.Context) (bytes, requests int64, err error) {
	l, err := m.powered()
	if err != nil {
		return 0, 0, nil //nolint:nilerr // a machine that is off has read nothing
	}
	var stats []struct {
		QDev  string `json:"qdev"`
		Stats struct {
			Bytes      int64 `json:"rd_bytes"`
			Operations int64 `json:"rd_operations"`
		} `json:"stats"`
	}
	if err := l.qmp.Execute(ctx, "query-blockstats", nil, &stats); err != nil {
		return 0, 0, fmt.Errorf("machine %s: reads of the medium: %w", m.config.Name, err)
	}
	for _, s := range stats {
		if strings.HasSuffix(s.QDev, "/"+cdDevice) || s.QDev == cdDevice {
			return s.Stats.Bytes, s.Stats.Operations, nil
		}
	}
	return 0, 0, nil
}

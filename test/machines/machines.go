// Package machines records what the inventory asks of a machine, and plays it
// again anywhere: the files that were read, with the links on the way to them,
// and the kernel's answers. A recording is a folder with two files that people
// can read and write:
//
//	files.txt     the files, see [ParseFiles]
//	kernel.json   the answers, see [Answers]
//
// [Recorder] makes one, program record runs it on a machine, [Load] plays it.
package machines

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// The files of a recording.
const (
	FilesName  = "files.txt"
	KernelName = "kernel.json"
)

// Answers are what the kernel answered. What is not there, the machine does not
// have.
type Answers struct {
	Uname   source.Uname   `json:"uname"`
	Network source.Network `json:"network"`
	// PermanentMACs are by interface.
	PermanentMACs map[string]string `json:"permanent_macs,omitempty"`
	// Inquiries are pages of vital product data, hex, by "/dev/sda 83".
	Inquiries map[string]string `json:"inquiries,omitempty"`
	// IPMI holds replies, hex, by the request: "06 42 01" is network function,
	// command, data.
	IPMI map[string]string `json:"ipmi,omitempty"`
}

// Load plays the recording in the folder.
func Load(dir string) (source.Machine, error) {
	text, err := os.ReadFile(filepath.Join(dir, FilesName))
	if err != nil {
		return source.Machine{}, err
	}
	files, err := ParseFiles(string(text))
	if err != nil {
		return source.Machine{}, fmt.Errorf("%s: %w", dir, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, KernelName))
	if err != nil {
		return source.Machine{}, err
	}
	var answers Answers
	if err := json.Unmarshal(raw, &answers); err != nil {
		return source.Machine{}, fmt.Errorf("%s: %w", filepath.Join(dir, KernelName), err)
	}
	return source.Machine{Files: files, Kernel: Player{answers}}, nil
}

// Player answers from a recording.
type Player struct{ Recorded Answers }

// Uname implements [source.Kernel].
func (p Player) Uname() (source.Uname, error) { return p.Recorded.Uname, nil }

// Network implements [source.Kernel].
func (p Player) Network() (source.Network, error) { return p.Recorded.Network, nil }

// PermanentMAC implements [source.Kernel].
func (p Player) PermanentMAC(nic string) (string, error) {
	if mac := p.Recorded.PermanentMACs[nic]; mac != "" {
		return mac, nil
	}
	return "", source.ErrNoAnswer
}

// Inquiry implements [source.Kernel].
func (p Player) Inquiry(device string, page byte) ([]byte, error) {
	return answer(p.Recorded.Inquiries[inquiryKey(device, page)])
}

// IPMI implements [source.Kernel].
func (p Player) IPMI(_ context.Context, request source.IPMIRequest) ([]byte, error) {
	if len(p.Recorded.IPMI) == 0 {
		return nil, source.ErrNoAnswer
	}
	if reply := p.Recorded.IPMI[ipmiKey(request)]; reply != "" {
		return answer(reply)
	}
	return []byte{0xc1}, nil // a BMC's word for a command that it does not know
}

func answer(text string) ([]byte, error) {
	if text == "" {
		return nil, source.ErrNoAnswer
	}
	return hex.DecodeString(strings.ReplaceAll(text, " ", ""))
}

func inquiryKey(device string, page byte) string { return fmt.Sprintf("%s %02x", device, page) }

func ipmiKey(r source.IPMIRequest) string {
	return fmt.Sprintf("% x", append([]byte{r.NetFn, r.Command}, r.Data...))
}

package machines

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// maxFile bounds a recorded file; the system's list of PCI names is larger and
// left out, the agent carries one.
const maxFile = 256 << 10

// Recorder stands between the inventory and a machine and keeps what was read.
type Recorder struct {
	inner source.Machine

	mu      sync.Mutex
	files   fstest.MapFS
	answers Answers
}

// NewRecorder records what is asked of the machine.
func NewRecorder(m source.Machine) *Recorder {
	return &Recorder{inner: m, files: fstest.MapFS{}, answers: Answers{
		PermanentMACs: map[string]string{}, Inquiries: map[string]string{}, IPMI: map[string]string{},
	}}
}

// Machine is the machine to take the inventory of.
func (r *Recorder) Machine() source.Machine {
	return source.Machine{Files: recordedFiles{r}, Kernel: recordedKernel{r}}
}

// Bundle is a recording in one piece.
type Bundle struct {
	Files   string  `json:"files"`
	Answers Answers `json:"answers"`
}

// Bundle returns what was read so far.
func (r *Recorder) Bundle() Bundle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Bundle{Files: FormatFiles(maps.Clone(r.files)), Answers: r.answers}
}

// KernelJSON is the recording's kernel.json.
func (b Bundle) KernelJSON() ([]byte, error) {
	raw, err := json.MarshalIndent(b.Answers, "", "  ")
	return append(raw, '\n'), err
}

// resolve follows the links of a path, recording each, and returns the path
// without them. The last element is followed only if asked for.
func (r *Recorder) resolve(name string, last bool) string {
	at, rest := "", strings.Split(name, "/")
	for hops := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		target, err := fs.ReadLink(r.inner.Files, next)
		if err != nil || (len(rest) == 0 && !last) {
			at = next
			continue
		}
		if hops++; hops > 40 {
			return name
		}
		r.keep(next, &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte(target)})
		if path.IsAbs(target) {
			at = ""
		}
		rest = append(strings.Split(strings.Trim(path.Join(at, target), "/"), "/"), rest...)
		at = ""
	}
	return at
}

// keep records a file; a longer content wins over a shorter one.
func (r *Recorder) keep(name string, f *fstest.MapFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.files[name]; old != nil && (len(old.Data) > len(f.Data) || old.Mode.Type() != f.Mode.Type()) {
		return
	}
	r.files[name] = f
}

// recordedFiles is the machine's files.
type recordedFiles struct{ *Recorder }

// Open implements [fs.FS].
func (r recordedFiles) Open(name string) (fs.File, error) {
	f, err := r.inner.Files.Open(name)
	if err != nil {
		return nil, err
	}
	return &recordedFile{File: f, done: func(raw []byte) {
		if len(raw) <= maxFile {
			r.keep(r.resolve(name, true), &fstest.MapFile{Mode: 0o644, Data: raw})
		}
	}}, nil
}

// Stat implements [fs.StatFS].
func (r recordedFiles) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(r.inner.Files, name)
	if err == nil {
		mode := fs.FileMode(0o644)
		if info.IsDir() {
			mode = dirMode
		}
		r.keep(r.resolve(name, true), &fstest.MapFile{Mode: mode})
	}
	return info, err
}

// ReadLink implements [fs.ReadLinkFS].
func (r recordedFiles) ReadLink(name string) (string, error) {
	target, err := fs.ReadLink(r.inner.Files, name)
	if err == nil {
		r.keep(r.resolve(name, false), &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte(target)})
	}
	return target, err
}

// Lstat implements [fs.ReadLinkFS].
func (r recordedFiles) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.inner.Files, name) }

// noise are entries of sysfs folders that tell nothing about the device.
var noise = []string{"power", "subsystem", "bdi", "mq", "integrity", "trace", "driver", "firmware_node"}

// ReadDir implements [fs.ReadDirFS]. Folders and links are kept; plain files
// only when they are read, so that recordings stay small.
func (r recordedFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.inner.Files, name)
	if err != nil {
		return nil, err
	}
	dir := r.resolve(name, true)
	r.keep(dir, &fstest.MapFile{Mode: dirMode})
	for _, e := range entries {
		file := &fstest.MapFile{Mode: dirMode}
		switch {
		case slices.Contains(noise, e.Name()) || e.Type().IsRegular():
			continue
		case e.Type()&fs.ModeSymlink != 0:
			target, err := fs.ReadLink(r.inner.Files, path.Join(dir, e.Name()))
			if err != nil {
				continue
			}
			file.Mode, file.Data = fs.ModeSymlink|0o777, []byte(target)
		}
		r.keep(path.Join(dir, e.Name()), file)
	}
	return entries, nil
}

// recordedFile keeps what is read of a file.
type recordedFile struct {
	fs.File
	read bytes.Buffer
	done func([]byte)
}

// Read implements [fs.File].
func (f *recordedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.read.Write(p[:n])
	if err != nil && err != io.EOF { //nolint:errorlint // the contract of io.Reader
		f.done = nil // it cannot be read
	}
	return n, err
}

// Close implements [fs.File].
func (f *recordedFile) Close() error {
	if f.done != nil {
		f.done(f.read.Bytes())
	}
	return f.File.Close()
}

// recordedKernel is the machine's kernel.
type recordedKernel struct{ *Recorder }

// Uname implements [source.Kernel].
func (r recordedKernel) Uname() (source.Uname, error) {
	u, err := r.inner.Kernel.Uname()
	r.note(func(a *Answers) { a.Uname = u })
	return u, err
}

// Network implements [source.Kernel].
func (r recordedKernel) Network() (source.Network, error) {
	n, err := r.inner.Kernel.Network()
	r.note(func(a *Answers) { a.Network = n })
	return n, err
}

// PermanentMAC implements [source.Kernel].
func (r recordedKernel) PermanentMAC(nic string) (string, error) {
	mac, err := r.inner.Kernel.PermanentMAC(nic)
	if err == nil {
		r.note(func(a *Answers) { a.PermanentMACs[nic] = mac })
	}
	return mac, err
}

// Inquiry implements [source.Kernel].
func (r recordedKernel) Inquiry(device string, page byte) ([]byte, error) {
	raw, err := r.inner.Kernel.Inquiry(device, page)
	if err == nil {
		r.note(func(a *Answers) { a.Inquiries[inquiryKey(device, page)] = hex.EncodeToString(raw) })
	}
	return raw, err
}

// IPMI implements [source.Kernel].
func (r recordedKernel) IPMI(ctx context.Context, request source.IPMIRequest) ([]byte, error) {
	reply, err := r.inner.Kernel.IPMI(ctx, request)
	if err == nil {
		r.note(func(a *Answers) { a.IPMI[ipmiKey(request)] = fmt.Sprintf("% x", reply) })
	}
	return reply, err
}

func (r *Recorder) note(change func(*Answers)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.answers)
}

// Package state keeps what an agent must know after a crash: who it is for the
// hub, and how far an installation has come. It is one JSON file on /run, so a
// reboot forgets it; the boot id and the deploy step's start time in it make
// sure that a file of another boot or of an earlier attempt is never believed.
package state

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// Path is the host path of the file.
const Path = hostfile.RunDir + "/agent.json"

// State is the content of the file.
type State struct {
	// BootID and StepStarted tie the state to one attempt of one boot.
	BootID      string    `json:"boot_id"`
	StepStarted time.Time `json:"step_started,omitzero"`
	// Host is the identity that the hub gave.
	Host hubclient.Host `json:"host"`
	// AgentVersion is the image that the agent polls as, where the hub has named
	// another one than its own.
	AgentVersion string `json:"agent_version,omitempty"`
	// Install is set from the accepted install step on.
	Install *Install `json:"install,omitempty"`
}

// Install is the state of an installation that must survive the process.
type Install struct {
	// Request is the hub's order, as it was validated.
	Request wire.InstallCmdRequest `json:"request"`
	// Attempt counts the processes that worked on it, from 1.
	Attempt int `json:"attempt"`
	// Stage is the highest stage that was begun.
	Stage wire.HostStage `json:"stage,omitempty"`
	// Disk is the device that the order was found to mean, by its kernel name.
	Disk string `json:"disk,omitempty"`
	// Effects are what the processes have changed, the last one last.
	Effects []Effect `json:"effects,omitempty"`
}

// Effect is one change of the world by an installation.
type Effect struct {
	Name   string `json:"name"`
	Target string `json:"target,omitempty"`
	// Done is false for one in whose middle the process may have died.
	Done bool `json:"done,omitempty"`
}

// File is the state with its file. It is safe for concurrent use.
type File struct {
	dir   hostfile.Dir
	mu    sync.Mutex
	state State
}

// Open reads the file. A file of another boot or another attempt, a broken and
// a missing one give a fresh state. An unknown boot id is the empty one: it is
// the same for the whole boot, so that nothing is lost on odd kernels.
func Open(dir hostfile.Dir) *File {
	fresh := State{}
	fresh.BootID, _ = dir.BootID()
	var step hostfile.StepState
	if err := dir.Read(hostfile.StepFile, &step); err == nil {
		fresh.StepStarted = step.StartedAt
	}
	f := &File{dir: dir, state: fresh}
	var found State
	if err := dir.Read(Path, &found); err == nil && found.BootID == fresh.BootID && found.StepStarted.Equal(fresh.StepStarted) {
		f.state = found
	}
	return f
}

// Get returns the present state.
func (f *File) Get() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.state
	if s.Install != nil {
		install := *s.Install
		s.Install = &install
	}
	return s
}

// Attempt is a text that is the same for one run of the deploy step, over
// crashes of the agent, and another one for the next; empty when the boot is unknown.
func (f *File) Attempt() string {
	s := f.Get()
	if s.BootID == "" || s.StepStarted.IsZero() {
		return s.BootID
	}
	return s.BootID + "/" + s.StepStarted.UTC().Format(time.RFC3339Nano)
}

// SetHost stores the identity.
func (f *File) SetHost(h hubclient.Host) error {
	return f.update(func(s *State) { s.Host = h })
}

// SetAgentVersion stores the image that the agent polls as.
func (f *File) SetAgentVersion(image string) error {
	return f.update(func(s *State) { s.AgentVersion = image })
}

// SetInstall stores the installation; nil forgets it.
func (f *File) SetInstall(i *Install) error {
	return f.update(func(s *State) { s.Install = i })
}

// ErrNoInstall is returned by [File.SetStage] before an installation has begun.
var ErrNoInstall = errors.New("no installation has begun")

// SetStage stores the highest stage that was begun.
func (f *File) SetStage(stage wire.HostStage) error {
	if f.Get().Install == nil {
		return ErrNoInstall
	}
	return f.update(func(s *State) {
		install := *s.Install
		install.Stage = stage
		s.Install = &install
	})
}

// BeginEffect records that an effect begins; a repeated one moves to the end.
func (f *File) BeginEffect(name, target string) error {
	return f.effect(Effect{Name: name, Target: target})
}

// EndEffect records that it has come about.
func (f *File) EndEffect(name, target string) error {
	return f.effect(Effect{Name: name, Target: target, Done: true})
}

// maxEffects bounds the record; the oldest go.
const maxEffects = 200

func (f *File) effect(e Effect) error {
	if f.Get().Install == nil {
		return ErrNoInstall
	}
	return f.update(func(s *State) {
		install := *s.Install
		install.Effects = slices.DeleteFunc(slices.Clone(install.Effects), func(old Effect) bool { return old.Name == e.Name && old.Target == e.Target })
		install.Effects = append(install.Effects, e)
		install.Effects = install.Effects[max(0, len(install.Effects)-maxEffects):]
		s.Install = &install
	})
}

func (f *File) update(change func(*State)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.state
	change(&next)
	// What is not in the file did not happen: an order that was refused for that
	// reason must not be gone on with later.
	if err := f.dir.Write(Path, next); err != nil {
		return err
	}
	f.state = next
	return nil
}

// Package generate makes scenarios of machines that differ as real ones do: in
// vendor, processors, memory, disks, network and speed.
//
// It is deterministic: the same seed and index give the same machine, however
// many are made. The files in test/scenario are made by it too (go generate),
// for tests and for people who want to see a scenario or run an agent on one.
package generate

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/scenario"
)

//go:generate go test . -run TestFilesAreGenerated -update

// Options shape a fleet. The zero value is the demo's.
type Options struct {
	// Seed makes another fleet.
	Seed uint64
	// Prefix of the names, which end in the index; default "machine-".
	Prefix string
	// Speed divides every duration: 1 (the default) lets a person follow, tests
	// take 20 and more.
	Speed float64
}

// network holds the addresses of the machines: the range for benchmarks of
// network devices, which nobody routes.
var network = netip.MustParsePrefix("198.18.0.0/16")

// firstHost is the offset of machine 0's address within the network.
const firstHost = 10

// Machines makes n scenarios.
func Machines(n int, o Options) []*scenario.Scenario {
	out := make([]*scenario.Scenario, n)
	for i := range out {
		out[i] = Machine(i, o)
	}
	return out
}

// Machine makes the scenario with the index, from 0 to 65,000.
func Machine(index int, o Options) *scenario.Scenario {
	if o.Prefix == "" {
		o.Prefix = "machine-"
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	m := maker{
		Rand:  rand.New(rand.NewPCG(o.Seed, uint64(index)+1)), //nolint:gosec // the same seed has to give the same machine
		index: index, speed: o.Speed,
		id: uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "ironflow machine %d %d", o.Seed, index)),
	}
	name := fmt.Sprintf("%s%d", o.Prefix, index)
	// The order of the draws is part of what a seed means.
	return &scenario.Scenario{Name: name, Hardware: m.hardware(), Install: m.install(), Timing: m.timing()}
}

// maker draws one machine.
type maker struct {
	*rand.Rand
	index int
	speed float64
	id    uuid.UUID
}

// pick draws one of the choices.
func pick[T any](m maker, choices ...T) T { return choices[m.IntN(len(choices))] }

// between draws a duration from the range and divides it by the speed.
func (m maker) between(low, high time.Duration) scenario.Duration {
	d := low + time.Duration(m.Float64()*float64(high-low))
	return scenario.Duration{Duration: time.Duration(float64(d) / m.speed).Round(time.Millisecond)}
}

// install draws how long an installation's stages take; about 12 s in all.
func (m maker) install() scenario.Install {
	return scenario.Install{
		DefaultStage: m.between(200*time.Millisecond, 500*time.Millisecond),
		Stages: map[string]scenario.Duration{
			StageWriting:            m.between(4*time.Second, 9*time.Second),
			"Starting installation": m.between(300*time.Millisecond, time.Second),
			"Waiting for bootkube":  m.between(500*time.Millisecond, 2*time.Second),
		},
	}
}

// timing draws how long the machine itself takes.
func (m maker) timing() scenario.Timing {
	return scenario.Timing{
		POST:      m.between(500*time.Millisecond, 1500*time.Millisecond),
		Boot:      m.between(300*time.Millisecond, 1200*time.Millisecond),
		DiskBoot:  m.between(500*time.Millisecond, 2*time.Second),
		ReadMiBps: float64(pick(m, 12, 20, 40)) * m.speed,
		CleanStep: m.between(300*time.Millisecond, time.Second),
	}
}

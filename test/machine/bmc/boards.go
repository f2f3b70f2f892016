package bmc

import (
	"context"
	"errors"
	"maps"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

// Board is BMCs as the machines behind them see them: sushy-tools' emulator, or
// our own simulator. Both tell the machines the same.
type Board interface {
	Add(ctx context.Context, system emulator.System) error
	SetPower(ctx context.Context, uuid string, power emulator.Power) error
	Remove(ctx context.Context, uuid string) error
}

// Boards gives some machines other BMCs than the rest: those that need RAID, BIOS
// settings, firmware updates, events or quirks stand behind the simulator. It
// implements [Board].
type Boards struct {
	// Default has all systems but those in Of.
	Default Board
	// Of are the BMCs of systems by their UUID.
	Of map[string]Board
}

func (b Boards) of(uuid string) Board {
	if board, ok := b.Of[uuid]; ok {
		return board
	}
	return b.Default
}

// errNoBoard says that a system is behind no BMC.
var errNoBoard = errors.New("the system has no BMC: give Boards a Default, or the system's UUID in Of")

// Add makes a system known to its BMC.
func (b Boards) Add(ctx context.Context, system emulator.System) error {
	board := b.of(system.UUID)
	if board == nil {
		return errNoBoard
	}
	return board.Add(ctx, system)
}

// SetPower tells a system's BMC that the machine did that by itself.
func (b Boards) SetPower(ctx context.Context, uuid string, power emulator.Power) error {
	board := b.of(uuid)
	if board == nil {
		return errNoBoard
	}
	return board.SetPower(ctx, uuid, power)
}

// Remove makes a system's BMC forget it.
func (b Boards) Remove(ctx context.Context, uuid string) error {
	board := b.of(uuid)
	if board == nil {
		return errNoBoard
	}
	return board.Remove(ctx, uuid)
}

// On is Boards with the systems of these UUIDs on another board.
func (b Boards) On(board Board, uuids ...string) Boards {
	of := maps.Clone(b.Of)
	if of == nil {
		of = map[string]Board{}
	}
	for _, uuid := range uuids {
		of[uuid] = board
	}
	return Boards{Default: b.Default, Of: of}
}

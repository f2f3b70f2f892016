//go:build e2e

package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ironflow/ironflow/test/ironic/contract"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// steps is the hardware manager with the contract's step.
type steps struct{}

func (steps) Name() string    { return "ContractManager" }
func (steps) Version() string { return "1" }

func (steps) Steps(_ context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	abortable := true
	list := []ipa.Step{{Name: contract.StepName, Interface: "deploy", Args: map[string]ipa.Argument{"fail": {}, "seconds": {}}, Abortable: &abortable}}
	if kind == ipa.Clean {
		list = append(list, ipa.Step{Name: "erase_devices_metadata", Interface: "deploy", Priority: 99})
	}
	return list, nil
}

func (steps) Run(ctx context.Context, call ipa.Call) (any, error) {
	if call.Step != contract.StepName {
		return nil, nil
	}
	call.BeatAtEnd()
	pause, fail := 2, false                          // a heartbeat within the first moments would meet the node locked, and be lost
	_ = json.Unmarshal(call.Args["seconds"], &pause) // absent: as above
	_ = json.Unmarshal(call.Args["fail"], &fail)
	timer := time.NewTimer(time.Duration(pause) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		if fail {
			return nil, failures[call.Kind](contract.FailureText)
		}
		return nil, nil
	case <-ctx.Done():
		return nil, errors.New("switched off")
	}
}

var failures = map[ipa.Kind]func(string) *ipa.Error{
	ipa.Clean: ipa.ErrCleaning, ipa.Deploy: ipa.ErrDeployment, ipa.Service: ipa.ErrServicing,
}

//go:build e2e

package ipa_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/machine/contract"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// TestContract runs the cases of every IPA on the Go one, in front of a real Ironic.
func TestContract(t *testing.T) {
	contract.Run(t, &goAgent{kept: map[string]*ipa.Identity{}})
}

// goAgent runs the Go IPA with the contract's steps.
type goAgent struct {
	mu sync.Mutex
	// kept are the identities by boot.
	kept map[string]*ipa.Identity
}

func (a *goAgent) Start(t testing.TB, boot contract.Boot) (func(), error) {
	ca, err := os.ReadFile(boot.CAFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	s := generate.Machine(0, generate.Options{})
	s.Hardware.NICs = []scenario.NIC{{Name: "eno1", MAC: boot.MAC}}
	log, err := os.OpenFile(filepath.Join(boot.Dir, "ipa.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- ipa.Run(ctx, ipa.Options{
			Config: ipa.Config{APIURLs: []string{boot.Ironic}, InspectionURLs: []string{boot.Ironic + "/v1/continue_inspection"}, Collectors: []string{"default"}},
			Roots:  roots, Inventory: ipa.NewInventory(s), Managers: []ipa.Manager{contractSteps{}}, Power: power{boot},
			Identity: a.identity(boot.Dir), Log: slog.New(slog.NewTextHandler(log, nil)),
		})
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("agent: %v", err)
		}
		log.Close()
	}, nil
}

func (a *goAgent) identity(dir string) *ipa.Identity {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept[dir] == nil {
		a.kept[dir] = &ipa.Identity{}
	}
	return a.kept[dir]
}

type power struct{ boot contract.Boot }

func (p power) Off(context.Context) error    { p.boot.Off(); return nil }
func (p power) Reboot(context.Context) error { p.boot.Reboot(); return nil }

// contractSteps is the contract's hardware manager.
type contractSteps struct{}

func (contractSteps) Name() string    { return "ContractHardwareManager" }
func (contractSteps) Version() string { return "1" }

func (contractSteps) Steps(_ context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	steps := []ipa.Step{{Name: contract.StepEcho, Interface: "deploy"}, {Name: contract.StepFail, Interface: "deploy"}}
	for i := range steps {
		steps[i].Args = map[string]ipa.Argument{contract.ArgText: {}, "word": {}, "number": {}}
	}
	switch kind {
	case ipa.Clean:
		return append(steps, ipa.Step{Name: contract.StepErase, Interface: "deploy", Priority: 99}), nil
	case ipa.Deploy:
		return append(steps, ipa.Step{Name: contract.StepRaise, Interface: "deploy", Args: steps[0].Args},
			ipa.Step{Name: contract.StepHang, Interface: "deploy"}, ipa.Step{Name: contract.StepAfter, Interface: "deploy", Priority: 79}), nil
	default:
		return nil, nil
	}
}

func (contractSteps) Run(ctx context.Context, call ipa.Call) (any, error) {
	text := unquote(call.Args[contract.ArgText])
	switch {
	case call.Step == contract.StepEcho:
		return call.Args, nil
	case call.Step == contract.StepAfter || call.Step == contract.StepErase:
		return nil, nil
	case call.Step == contract.StepFail && call.Kind == ipa.Clean:
		return nil, ipa.ErrCleaning(text)
	case call.Step == contract.StepFail:
		return nil, ipa.ErrDeployment(text)
	case call.Step == contract.StepRaise:
		return nil, errors.New(text)
	case call.Step == contract.StepHang:
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return nil, errors.ErrUnsupported
	}
}

func unquote(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // absent: no text
	return text
}

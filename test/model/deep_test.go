package model

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestDeep searches for as long as MODEL_DURATION says, with more moves of users and
// disturbances at a time, as far as MODEL_USERS and MODEL_FAULTS let it, from the scenarios with MODEL_SCENARIO in their names. Its last line is JSON.
func TestDeep(t *testing.T) {
	duration, err := time.ParseDuration(os.Getenv("MODEL_DURATION"))
	if err != nil {
		t.Skip("MODEL_DURATION is not set: make model")
	}
	g := NewWithT(t)
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	only := slices.DeleteFunc(Scenarios(), func(s Scenario) bool { return !strings.Contains(s.Name, os.Getenv("MODEL_SCENARIO")) })
	result, err := Search(ctx, only, Limits{
		Users: number("MODEL_USERS", 2), Faults: number("MODEL_FAULTS", 2), Depth: number("MODEL_DEPTH", 60),
		States: number("MODEL_STATES", 200_000), Seed: uint64(number("MODEL_SEED", 1)), Workers: runtime.GOMAXPROCS(0),
		Known: knownOnes(),
		Tell:  func(c Counterexample) { fmt.Printf("\n%s", c) },
	})
	g.Expect(err).NotTo(HaveOccurred())
	all, killed := tryMutations(t)
	last, err := json.Marshal(map[string]any{
		"states": result.States, "steps": result.Steps, "depth": result.Depth, "complete": result.Complete, "counterexamples": len(result.Found),
		"mutations": all, "killed": killed,
	})
	g.Expect(err).NotTo(HaveOccurred())
	fmt.Printf("%s\n", last)
}

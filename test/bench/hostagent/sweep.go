package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	// network is what is swept: a /22, of which the other end has every tenth address.
	network = "10.99.0.0/22"
	// one and other are the namespaces.
	one, other = "ironflow-bench-one", "ironflow-bench-other"
)

// sweep is the time of free_addresses over a /22 in a network namespace, in
// seconds, from the start of the process to its end; what it finds must be right.
func sweep(ctx context.Context, program string) (float64, error) {
	taken, err := connect(ctx)
	defer disconnect()
	if err != nil {
		return 0, fmt.Errorf("network namespaces: %w", err)
	}
	var times []float64
	for range 3 {
		command := exec.CommandContext(ctx, "ip", "netns", "exec", one, program, "free_addresses", "--with-text-logging=false", `["`+network+`"]`)
		command.Stderr = os.Stderr
		begin := time.Now()
		out, err := command.Output()
		if err != nil {
			return 0, fmt.Errorf("free_addresses: %w", err)
		}
		times = append(times, time.Since(begin).Seconds())
		if err := check(out, taken); err != nil {
			return 0, err
		}
	}
	return median("ARP sweep of a /22", times), nil
}

// connect makes two namespaces with a cable between them and returns the addresses in use.
func connect(ctx context.Context) ([]string, error) {
	disconnect() // what an interrupted run has left
	lines := []string{
		"netns add " + one, "netns add " + other,
		"link add bench0 netns " + one + " type veth peer name bench1 netns " + other,
		"-n " + one + " address add 10.99.0.1/22 dev bench0", "-n " + one + " link set bench0 up", "-n " + other + " link set bench1 up",
	}
	taken := []string{"10.99.0.1"}
	for i := 10; i < 1020; i += 10 {
		address := fmt.Sprintf("10.99.%d.%d", i/256, i%256)
		taken = append(taken, address)
		lines = append(lines, "-n "+other+" address add "+address+"/22 dev bench1")
	}
	for _, line := range lines {
		if out, err := exec.CommandContext(ctx, "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return taken, nil
}

func disconnect() {
	for _, name := range []string{one, other} {
		_ = exec.CommandContext(context.Background(), "ip", "netns", "delete", name).Run() // there may be none
	}
}

// check compares the answer with the truth.
func check(out []byte, taken []string) error {
	var answer []struct {
		Free []string `json:"free_addresses"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return fmt.Errorf("free_addresses: %w", err)
	}
	if len(answer) != 1 || len(answer[0].Free) != 1024-len(taken) {
		return fmt.Errorf("free_addresses: got %d free addresses, want %d", len(answer[0].Free), 1024-len(taken))
	}
	for _, address := range taken {
		if slices.Contains(answer[0].Free, address) {
			return fmt.Errorf("free_addresses: %s is in use", address)
		}
	}
	return nil
}

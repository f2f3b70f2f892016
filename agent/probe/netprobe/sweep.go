package netprobe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// A sweep asks every address several times, so that neither a lossy nor a slow
// neighbour is taken for nobody: with every fifth frame lost both ways, one in
// 460 neighbours would be missed. A network of 1,024 addresses takes 2.1 s.
const (
	sweepRounds = 6
	// sweepRound is the time from one request for an address to the next.
	sweepRound = 250 * time.Millisecond
	// sweepWait is how long answers to the last round are waited for.
	sweepWait = 600 * time.Millisecond
)

// SweepSize is how many addresses one sweep takes at most; its round has room
// for [MaxAtOnce] at a time without more than 4,100 packets a second.
const SweepSize = 1024

// Sweep asks for all addresses, at most [SweepSize], and returns those that are
// in use: their owner answered, or asked for something itself meanwhile. The
// source is an own address. It fails rather than leave out an address that could
// not be asked for.
func (n *Neighbors) Sweep(ctx context.Context, source netip.Addr, addresses []netip.Addr) (map[netip.Addr]bool, error) {
	addresses = addresses[:min(len(addresses), SweepSize)]
	questions := make([]*question, len(addresses))
	for i, address := range addresses {
		q, done := n.ask(address)
		defer done()
		questions[i] = q
	}
	var failed error
	for range sweepRounds {
		asked, err := n.sweepOnce(ctx, source, addresses, questions)
		if err != nil {
			failed = err
		}
		if !asked || ctx.Err() != nil {
			break
		}
	}
	n.waitAll(ctx, questions)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := errors.Join(ctx.Err(), n.broken); err != nil {
		return nil, err
	}
	taken := map[netip.Addr]bool{}
	for i, q := range questions {
		if q.heard {
			taken[addresses[i]] = true
		} else if q.sent == 0 {
			return nil, fmt.Errorf("ask for %s: %w", addresses[i], failed)
		}
	}
	return taken, nil
}

// sweepOnce asks for what has no answer yet, [MaxAtOnce] at a time, evenly over
// the time of a round. It tells whether there was anything left to ask for.
func (n *Neighbors) sweepOnce(ctx context.Context, source netip.Addr, addresses []netip.Addr, questions []*question) (asked bool, failed error) {
	end := time.Now().Add(sweepRound)
	bursts := (len(addresses) + MaxAtOnce - 1) / MaxAtOnce
	for i, address := range addresses {
		if i%MaxAtOnce == 0 && i > 0 {
			left := bursts - i/MaxAtOnce
			if !sleep(ctx, time.Until(end)/time.Duration(left+1)) {
				return asked, ctx.Err()
			}
		}
		if answered(questions[i]) {
			continue
		}
		asked = true
		if err := n.send(questions[i], source, address); err != nil {
			failed = err
		}
	}
	if asked {
		sleep(ctx, time.Until(end))
	}
	return asked, failed
}

// waitAll waits until all are answered, or [sweepWait].
func (n *Neighbors) waitAll(ctx context.Context, questions []*question) {
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	for _, q := range questions {
		select {
		case <-q.answered:
		case <-ctx.Done():
			return
		}
	}
}

func answered(q *question) bool {
	select {
	case <-q.answered:
		return true
	default:
		return false
	}
}

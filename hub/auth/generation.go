package auth

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// firstGeneration is that of an infra-env or a cluster whose tokens were never revoked.
const firstGeneration = 1

// GenerationOf is the least generation of tokens that are made after a revocation for that text.
// It follows from the text alone, so that a hub which has lost its records comes to the same: a
// count from one would take tokens of earlier generations again, and refuse those in use. Texts
// that are times, as the commands write them, have their order.
func GenerationOf(revoke string) int64 {
	if at, err := time.Parse(time.RFC3339Nano, revoke); err == nil {
		return at.UnixMicro()
	}
	sum := sha256.Sum256([]byte(revoke))
	return int64(binary.BigEndian.Uint64(append(make([]byte, 2), sum[:6]...)))
}

// Next is the generation of tokens that are made after a revocation for that text, where those
// before it are of the other one.
func Next(generation int64, revoke string) int64 {
	return max(generation, firstGeneration, GenerationOf(revoke)-1) + 1
}

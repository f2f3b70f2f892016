package image

import (
	"encoding/asn1"
	"fmt"
	"math/big"
)

// half is the length of each of the two numbers of a signature by P-256.
const half = 32

// fixed is a signature as RFC 7518 has it, two numbers of one length, out of ASN.1.
func fixed(der []byte) ([]byte, error) {
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &numbers); err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	out := make([]byte, 2*half)
	numbers.R.FillBytes(out[:half])
	numbers.S.FillBytes(out[half:])
	return out, nil
}

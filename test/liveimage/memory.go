package liveimage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

type memory struct {
	*bytes.Reader
	id string
}

// ID implements [overlay.Source].
func (m memory) ID() string { return m.id }

// Memory is a source of bytes, which stands for a medium's file.
func Memory(data []byte) overlay.Source {
	sum := sha256.Sum256(data)
	return memory{bytes.NewReader(data), hex.EncodeToString(sum[:])}
}

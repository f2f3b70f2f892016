package overlay_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

// read returns a range of a medium.
func read(g *WithT, s overlay.Source, off, n int64) []byte {
	raw := make([]byte, n)
	_, err := s.ReadAt(raw, off)
	g.Expect(err).NotTo(HaveOccurred())
	return raw
}

// A medium without a recipe loses nothing but its root file system.
func TestMinimalWithoutRecipe(t *testing.T) {
	for _, name := range coreosiso.Names {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			full := media(t, coreosiso.Read(t, name))
			full.Source = file{full.Source}
			full.Layout.Miniso = nil
			minimal, err := overlay.Minimal(full)
			g.Expect(err).NotTo(HaveOccurred())
			rootfs := full.Layout.File(overlay.RootfsPath)
			g.Expect(minimal.Size()).To(BeNumerically("<=", full.Size()))
			for f := range full.Layout.Files() {
				got := minimal.Layout.File(f.Path)
				g.Expect(got).NotTo(BeNil(), f.Path)
				if f.Path == rootfs.Path {
					g.Expect(got.Size).To(BeZero())
					continue
				}
				g.Expect(bytes.Equal(read(g, minimal, got.Offset, got.Size), read(g, full, f.Offset, f.Size))).To(BeTrue(), f.Path)
			}
			if full.Layout.Kargs != nil {
				g.Expect(minimal.Layout.Kargs.Default).To(Equal(full.Layout.Kargs.Default), "offsets in headers moved along")
				g.Expect(minimal.Layout.Kargs.Read(minimal)).To(Equal(full.Layout.Kargs.Default))
			}
			image, err := overlay.Customize(minimal, overlay.Options{Content: embedarea.Content{Ignition: []byte("{}")}})
			g.Expect(err).NotTo(HaveOccurred())
			raw := content(t, image)
			g.Expect(liveimage.Ignition(bytes.NewReader(raw), int64(len(raw)))).To(BeEquivalentTo("{}"))
			checkPartitions(g, read(g, minimal, 0, minimal.Size()))
		})
	}
}

// checkPartitions verifies both copies of a GPT, when there is one.
func checkPartitions(g *WithT, raw []byte) {
	if string(raw[512:520]) != "EFI PART" {
		return
	}
	le := binary.LittleEndian
	verify := func(at uint64) (other uint64) {
		h := bytes.Clone(raw[at*512:][:92])
		g.Expect(string(h[:8])).To(Equal("EFI PART"))
		sum := le.Uint32(h[16:])
		le.PutUint32(h[16:], 0)
		g.Expect(crc32.ChecksumIEEE(h)).To(Equal(sum), "header")
		g.Expect(le.Uint64(h[24:])).To(Equal(at))
		entries := raw[le.Uint64(h[72:])*512:][:le.Uint32(h[80:])*le.Uint32(h[84:])]
		g.Expect(crc32.ChecksumIEEE(entries)).To(Equal(le.Uint32(h[88:])), "entries")
		for ; len(entries) > 0; entries = entries[128:] {
			g.Expect(le.Uint64(entries[40:])).To(BeNumerically("<=", le.Uint64(h[48:])), "no partition ends behind the medium")
		}
		return le.Uint64(h[32:])
	}
	backup := verify(1)
	g.Expect(backup).To(BeEquivalentTo(len(raw)/512-1), "the backup comes last")
	g.Expect(verify(backup)).To(BeEquivalentTo(1))
}

func TestMinimalRefusesWhatItCannotMove(t *testing.T) {
	g := NewWithT(t)
	raw := coreosiso.Read(t, "2021-01")
	// The boot catalog's first image is said to lie at the medium's end.
	catalog := binary.LittleEndian.Uint32(raw[17*2048+71:]) * 2048
	binary.LittleEndian.PutUint32(raw[catalog+32+8:], uint32(len(raw)/2048-1))
	_, err := overlay.Minimal(media(t, raw))
	g.Expect(err).To(And(MatchError(overlay.ErrNoMinimal), MatchError(ContainSubstring("a boot image lies behind"))))
}

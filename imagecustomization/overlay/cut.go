package overlay

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// cut composes the minimal ISO of a medium without a recipe: the root file
// system's sectors are left out, what lies behind them moves forward, and every
// place that names a sector is patched. Boot loaders know some places by heart;
// on real media all of them lie in front of the root file system, and a medium
// where they do not is refused.
func cut(media Media) (Media, error) {
	rootfs := media.Layout.File(RootfsPath)
	if rootfs == nil || rootfs.Size == 0 {
		return Media{}, fmt.Errorf("%w: it has no %s", ErrNoMinimal, RootfsPath)
	}
	c := &cutter{
		media: media, out: NewBuilder(nil),
		gap: iso.Area{Offset: rootfs.Offset, Length: align(rootfs.Size, sector)},
		end: int64(media.Layout.Primary.Blocks) * sector,
	}
	if err := c.checkFixed(rootfs); err != nil {
		return Media{}, err
	}
	c.extents()
	c.files(rootfs)
	if err := c.systemArea(); err != nil {
		return Media{}, err
	}
	patches, err := c.patches()
	if err != nil {
		return Media{}, err
	}
	image, err := patches.Build()
	if err != nil {
		return Media{}, err
	}
	layout, err := iso.Parse(image, image.Size())
	if err != nil {
		return Media{}, fmt.Errorf("minimal ISO: %w", err)
	}
	return Media{Source: image, Layout: layout}, c.check(layout, rootfs)
}

// cutter holds the state of one cut.
type cutter struct {
	media Media
	out   *Builder
	gap   iso.Area // what is left out
	end   int64    // of the volume
	edits []edit
}

// edit replaces bytes of the result.
type edit struct {
	at   int64
	data []byte
}

// moved is where a byte of the medium lies in the result.
func (c *cutter) moved(at int64) int64 {
	if at >= c.gap.End() {
		return at - c.gap.Length
	}
	return at
}

// behind tells whether the byte is behind what is left out.
func (c *cutter) behind(at int64) bool { return at >= c.gap.Offset }

func (c *cutter) put(at int64, data []byte) { c.edits = append(c.edits, edit{at, data}) }

// size is the result's length: the volume, and the room for the backup of a
// partition table where there is one.
func (c *cutter) size() int64 { return c.moved(c.end) }

// extents takes over what stays.
func (c *cutter) extents() {
	c.out.Extent(0, c.media.Source, 0, c.gap.Offset)
	if c.end > c.gap.End() {
		c.out.Extent(c.gap.Offset, c.media.Source, c.gap.End(), c.end-c.gap.End())
	}
	for _, d := range c.descriptors() {
		c.put(d.BlocksOffset(), bothEndian(c.size()/sector))
	}
}

func (c *cutter) descriptors() []*iso.Descriptor {
	all := []*iso.Descriptor{c.media.Layout.Primary}
	if j := c.media.Layout.Joliet; j != nil {
		all = append(all, j)
	}
	return all
}

// files patches the directory records: the root file system becomes empty, the
// files behind it move.
func (c *cutter) files(rootfs *iso.File) {
	for f := range c.media.Layout.Files() {
		for _, record := range []int64{f.Record, f.JolietRecord} {
			switch {
			case record == 0:
			case f == rootfs:
				c.put(record+iso.RecordSize, bothEndian(0))
			case f.Offset >= c.gap.End():
				c.put(record+iso.RecordExtent, bothEndian(c.moved(f.Offset)/sector))
			}
		}
	}
}

// checkFixed refuses media on which something that cannot move lies behind the
// root file system, or a file could not be described.
func (c *cutter) checkFixed(rootfs *iso.File) error {
	refuse := func(what string) error {
		return fmt.Errorf("%w, and %s lies behind the root file system", ErrNoMinimal, what)
	}
	for f := range c.media.Layout.Files() {
		switch {
		case c.behind(f.Record) || c.behind(f.JolietRecord):
			return refuse("the directory of " + f.Path)
		case f.Extents > 1:
			return fmt.Errorf("%w, and %s is larger than 4 GiB", ErrNoMinimal, f.Path)
		case f != rootfs && f.Size > 0 && f.Offset < c.gap.End() && f.Offset+f.Size > c.gap.Offset:
			return fmt.Errorf("%w, and %s shares sectors with the root file system", ErrNoMinimal, f.Path)
		}
	}
	for _, d := range c.descriptors() {
		tables := make([]byte, d.PathTables().Length)
		if _, err := c.media.ReadAt(tables, d.PathTables().Offset); err != nil {
			return fmt.Errorf("read the volume descriptor: %w", err)
		}
		l, m := binary.LittleEndian.Uint32(tables[0:]), binary.BigEndian.Uint32(tables[8:])
		if c.behind(int64(l)*sector) || c.behind(int64(m)*sector) {
			return refuse("a path table")
		}
	}
	boot, err := bootImages(c.media)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(boot, c.behind) {
		return refuse("a boot image")
	}
	return nil
}

// bootImages returns where the El Torito catalog and its boot images lie.
func bootImages(media Media) ([]int64, error) {
	var record [sector]byte
	for at := int64(17 * sector); at < 32*sector; at += sector {
		if _, err := media.ReadAt(record[:], at); err != nil {
			return nil, fmt.Errorf("read the boot record: %w", err)
		}
		if record[0] == 255 || string(record[1:6]) != "CD001" {
			return nil, nil
		}
		if record[0] == 0 && string(record[7:30]) == "EL TORITO SPECIFICATION" {
			break
		}
	}
	if record[0] != 0 {
		return nil, nil
	}
	catalog := int64(binary.LittleEndian.Uint32(record[71:])) * sector
	places := []int64{catalog}
	var entries [sector]byte
	if _, err := media.ReadAt(entries[:], catalog); err != nil {
		return nil, fmt.Errorf("read the boot catalog: %w", err)
	}
	for at := 32; at+32 <= len(entries); at += 32 {
		// 0x88 marks a bootable entry; headers of sections begin with 0x90 and 0x91.
		if entries[at] == 0x88 {
			places = append(places, int64(binary.LittleEndian.Uint32(entries[at+8:]))*sector)
		}
	}
	return places, nil
}

// patches lays the edits over the extents.
func (c *cutter) patches() (*Builder, error) {
	plain, err := c.out.Build()
	if err != nil {
		return nil, err
	}
	b := NewBuilder(plain)
	for _, e := range c.edits {
		b.Bytes(e.at, e.data)
	}
	return b, nil
}

// check compares the result with the medium: all files must be where they are
// expected, under their names.
func (c *cutter) check(layout *iso.Layout, rootfs *iso.File) error {
	for f := range c.media.Layout.Files() {
		got := layout.File(f.Path)
		if got == nil || f != rootfs && f.Size > 0 && (got.Size != f.Size || got.Offset != c.moved(f.Offset)) {
			return fmt.Errorf("%w: %s would be lost", ErrNoMinimal, f.Path)
		}
	}
	return nil
}

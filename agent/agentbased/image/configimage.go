package image

import (
	"bytes"
	"compress/gzip"
	"fmt"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// configISO is the medium that appliances load their settings from. What they would refuse
// is not made.
func (p *Plan) configISO(id Identity) ([]byte, error) {
	files, err := p.settings(id)
	if err != nil {
		return nil, err
	}
	archive, err := configArchive(files)
	if err != nil {
		return nil, err
	}
	contents, err := configimage.Read(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("the config image cannot be read back: %w", err)
	}
	for _, f := range files {
		if f.Path == places.ClusterImageSet {
			err = contents.Check(configimage.DefaultList, []byte(string(f.Data)))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("appliances would refuse the config image: %w", err)
	}
	var out bytes.Buffer
	if err := iso.Write(&out, places.ConfigImageLabel, iso.Written{Name: configimage.ArchiveName, Data: archive}); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func configArchive(files []ignition.Placed) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := cpio.NewWriter(z)
	for _, f := range files {
		if err := w.File(f.Path, uint32(f.Mode), []byte(string(f.Data))); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

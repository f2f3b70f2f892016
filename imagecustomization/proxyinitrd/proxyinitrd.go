// Package proxyinitrd makes the archive that tells the first stage of a live system
// through which proxy it fetches its root file system.
package proxyinitrd

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

// dropIn changes the unit of the live system that fetches the root file system.
const dropIn = "etc/systemd/system/coreos-livepxe-rootfs.service.d/10-proxy.conf"

// Archive returns a compressed cpio archive; nil without a proxy.
func Archive(http, https, no string) ([]byte, error) {
	var unit strings.Builder
	for _, p := range []struct{ name, value string }{{"http_proxy", http}, {"https_proxy", https}, {"no_proxy", no}} {
		if p.value == "" {
			continue
		}
		if strings.ContainsAny(p.value, "\"\\\r\n") {
			return nil, fmt.Errorf("%s: quotes and lines have no place in it", p.name)
		}
		value := strings.ReplaceAll(p.value, "%", "%%") // systemd's own sign
		fmt.Fprintf(&unit, "Environment=\"%s=%s\"\nEnvironment=\"%s=%s\"\n", p.name, value, strings.ToUpper(p.name), value)
	}
	if unit.Len() == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := cpio.NewWriter(compressed)
	if err := archive.File(dropIn, 0o644, []byte("[Service]\n"+unit.String())); err != nil {
		return nil, err
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

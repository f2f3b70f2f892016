// Package hubpaths answers for the addresses under which clients of the hub's
// REST API look for live images and boot files (/byid, /bytoken, /byapikey,
// /images/ID, /boot-artifacts): one image for all hosts of an infra-env.
//
// [Resolver] turns such a request into the path of an image of the store, which
// the image server then serves like any other; nothing is redirected, because
// BMCs do not follow. Tokens are verified here.
package hubpaths

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// request is what a client asks for.
type request struct {
	// infraEnv is named in the path; token opens one instead, or as well.
	infraEnv, token string
	// version and arch choose the medium; an empty version is the newest.
	version, arch string
	// format is the image's; addrSize asks for the 16 bytes beside an initrd.
	format   string
	addrSize bool
	// artifact is a file of the medium, which needs no infra-env.
	artifact string
}

const (
	// newest as a version is that of the newest medium, for a hub that knows none.
	newest = "newest"
	// maxVersion is the longest version or architecture that is looked for; the hub
	// is told which one was not there.
	maxVersion = 100
)

// files are the last elements of a path that names a format.
var files = map[string]string{"full.iso": images.FormatISO, "minimal.iso": images.FormatMinimalISO}

// types are the values of the parameter type.
var types = map[string]string{"": images.FormatISO, "full-iso": images.FormatISO, "minimal-iso": images.FormatMinimalISO}

// artifacts are the files that are the same for everybody. The kernel's path
// depends on the architecture.
var artifacts = map[string]string{"kernel": images.KernelArtifact, "rootfs": overlay.RootfsPath, "ins-file": overlay.InsPath}

// parse reads a request; known is false for paths that are none of the hub's.
func parse(r *http.Request) (q request, known bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	values := r.URL.Query()
	q = request{version: values.Get("version"), arch: values.Get("arch"), token: values.Get("image_token") + values.Get("api_key")}
	switch {
	case len(parts) == 5 && (parts[0] == "byid" || parts[0] == "bytoken" || parts[0] == "byapikey"):
		q.version, q.arch, q.format = parts[2], parts[3], files[parts[4]]
		if parts[0] == "byid" {
			q.infraEnv, q.token = parts[1], ""
		} else {
			q.token = parts[1]
		}
	case len(parts) == 2 && parts[0] == "images":
		q.infraEnv, q.format = parts[1], types[values.Get("type")]
	case len(parts) == 3 && parts[0] == "images" && parts[2] == "pxe-initrd":
		q.infraEnv, q.format = parts[1], images.FormatInitrd
	case len(parts) == 3 && parts[0] == "images" && parts[2] == "s390x-initrd-addrsize":
		q.infraEnv, q.format, q.addrSize = parts[1], images.FormatInitrd, true
	case len(parts) == 2 && parts[0] == "boot-artifacts":
		q.artifact = artifacts[parts[1]]
	default:
		return request{}, false
	}
	if q.version == newest {
		q.version = ""
	}
	if q.artifact != "" {
		q.token = "" // anybody may have it, with any token
	}
	if q.arch = media.NormalArch(cmp.Or(q.arch, "x86_64")); len(q.arch) > maxVersion || len(q.version) > maxVersion {
		return request{}, false
	}
	if q.infraEnv != "" && uuid.Validate(q.infraEnv) != nil {
		return request{}, false
	}
	return q, q.format != "" || q.artifact != ""
}

// text stands for the request, and for no other.
func (q request) text() string {
	return fmt.Sprintf("%q %t", []string{q.infraEnv, q.token, q.version, q.arch, q.format, q.artifact}, q.addrSize)
}

// key is the image's key in the store: one for each address that it may be asked by.
func (q request) key() string {
	return "infra-env/" + q.infraEnv + "." + strings.Join([]string{q.format, cmp.Or(q.version, newest), q.arch}, ".")
}

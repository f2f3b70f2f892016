package hubimages

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

// maxImageURL is the longest address that BMCs are known to take.
const maxImageURL = 255

// newestMedium stands for the version in the addresses of a hub that runs apart
// from the image server, and so knows no media.
const newestMedium = "newest"

// URLs says where the image server at an address serves the live images of infra-envs; nil when that
// address is not known. Base images are known where they are served by the same process.
func URLs(server string, bases func() *media.Registry) func(env wire.InfraEnv, token string) (service.ImageURLs, error) {
	if u, err := url.Parse(server); err != nil || u.Hostname() == "" {
		return nil
	}
	return func(env wire.InfraEnv, token string) (service.ImageURLs, error) {
		arch, version := media.NormalArch(cmp.Or(env.CPUArchitecture, wire.InfraEnvCPUArchitectureX8664)), cmp.Or(env.OpenshiftVersion, newestMedium)
		if registry := bases(); registry != nil {
			b, err := registry.Select(context.Background(), arch, env.OpenshiftVersion)
			if err != nil {
				return service.ImageURLs{}, err
			}
			version = b.Version
		}
		return addresses(server, env, token, arch, version)
	}
}

// addresses are those of the paths that clients of the hub know; package hubpaths
// answers for them.
func addresses(server string, env wire.InfraEnv, token, arch, version string) (service.ImageURLs, error) {
	file := "full.iso"
	if env.Type == wire.ImageTypeMinimalISO {
		file = "minimal.iso"
	}
	owner, query := "/byid/"+env.ID, url.Values{"version": {version}, "arch": {arch}}
	kernel, rootfs := server+"/boot-artifacts/kernel?"+query.Encode(), server+"/boot-artifacts/rootfs?"+query.Encode()
	if token != "" {
		owner = "/bytoken/" + token
		query.Set("image_token", token)
	}
	urls := service.ImageURLs{
		ISO:    server + owner + "/" + url.PathEscape(version) + "/" + arch + "/" + file,
		Initrd: server + "/images/" + env.ID + "/pxe-initrd?" + query.Encode(), Kernel: kernel, Rootfs: rootfs,
	}
	if n := len(urls.ISO); n > maxImageURL {
		return service.ImageURLs{}, fmt.Errorf("its address has %d characters, BMCs take %d: use a shorter --images-publish-url", n, maxImageURL)
	}
	return urls, nil
}

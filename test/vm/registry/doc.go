// Package registry is a container registry for the machines of test/vm: Debian's
// docker-registry over plain HTTP, with the image of ironic-python-agent as
// `make images` builds it. The units that we ship pull it, with the settings that a
// user has for a registry without a certificate (HostConfig.IPA.ImageInsecure). The
// main function is [Start].
package registry

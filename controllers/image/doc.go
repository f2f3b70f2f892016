// Package image builds the live image of each host: it is the producer of the
// PreprovisioningImage contract.
//
// A PreprovisioningImage without the InfraEnv label gets an image with
// ironic-python-agent alone. With the label, the image also carries the host
// agent of that InfraEnv, shipped disabled behind its gate, and the Ready
// condition says so by its reason InfraEnvAvailable. Every image is built per
// host; its URL changes exactly when its content does.
//
// [Decide] holds the policy and is pure; the reconciler gathers the inputs,
// builds, and writes one status patch. Errors appear here, when the image is
// built, never as a broken download.
package image

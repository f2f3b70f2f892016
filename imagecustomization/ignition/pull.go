package ignition

// pullScript is the program that fetches container images.
const pullScript = "/usr/local/bin/ironflow-pull"

// pullScript fetches an image unless it is there, for ever, ever slower.
func (c HostConfig) pullScript(insecure bool) string {
	flags := ""
	if insecure {
		flags += " --tls-verify=false"
	}
	if c.PullSecret != "" {
		flags += " --authfile=" + authFile
	}
	return lines(
		"#!/bin/bash",
		"# Pulls a container image unless it is there already; waits 5 s to 5 min between attempts.",
		"delay=5",
		`until podman image exists "$1" || podman pull --quiet`+flags+` "$1"; do`,
		`    echo "pulling $1 failed, next attempt in $delay s" >&2`,
		`    sleep "$delay"`,
		`    delay=$((delay * 2 > 300 ? 300 : delay * 2))`,
		"done",
	)
}

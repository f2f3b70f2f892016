package features

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// demand is one line of a list of what images or deploy steps need, cut into its points.
type demand struct {
	// need is how much it is needed, line the point in the list's own words.
	need, line string
	// rows are those of docs/features.md that answer for it, among them at most such that
	// say why it is left out.
	rows []string
}

// images is what live images and their server need.
var images = []demand{
	{"essential", "PreprovisioningImage: API, producer, consumer", []string{
		"PreprovisioningImage asked for, waited for, refused", "built: formats, network data, errors as conditions", "a change of inputs is announced, emptied, built; the host waits for it",
	}},
	{"essential", "ISO and initrd formats, kernelUrl and extraKernelParams filled", []string{"initrd with kernel, root file system and iPXE script"}},
	{"essential", "IPA Ignition", []string{"ironic-python-agent: settings, unit, container or program"}},
	{"essential", "converged image with agent.service disabled", []string{"both agents in one image: the host agent is started by the deploy step only"}},
	{"essential", "Secret key `nmstate` with clear errors", []string{"nmstate, OpenStack's network data, keyfiles; clear refusals", "every field refuses what it cannot take, by its path"}},
	{"essential", "x86_64, aarch64", []string{"x86_64, aarch64, ppc64le, s390x: which a medium is for", "x86_64, aarch64, ppc64le, s390x: ISO, minimal ISO, network boot"}},
	{"essential", "ranges, HEAD, If-Range, 416, multi-range", []string{"ranges, several ranges, HEAD, If-Range and preconditions, 416"}},
	{"essential", "keep-alive", []string{"connections that are kept, and ranges that they answer without net/http, as that answers"}},
	{"essential", "all of it concurrency-safe; readers-versus-model", []string{"many readers of one image get the right bytes"}},
	{"essential", "ETag, stable URL", []string{"strong validators and addresses that are the same after a restart and in every replica"}},
	{"essential", "a URL that ends in .iso", []string{"addresses as BMCs want them"}},
	{"essential", "token auth, no listing", []string{"nothing without its token, and no listing"}},
	{"essential", "zero-copy overlay + sendfile", []string{"bytes of a medium go from the kernel to the socket, few allocations"}},
	{"essential", "readiness, liveness, metrics", []string{"readiness, liveness, metrics"}},
	{"essential", "six fixtures", []string{"media of every year since 2020: by igninfo.json and kargs.json, by headers, by the marker"}},
	{"essential", "fuzz", []string{"what others have made is fuzzed: media, archives, recipes, arguments, ranges, networks"}},
	{"essential", "reset-to-base property", []string{"Ignition embedded, shown, and the medium's own bytes after a reset"}},
	{"essential", "QEMU boot BIOS + UEFI + HTTP", []string{
		"boots under BIOS and UEFI: from a file, off the image server, by iPXE, minimal, with arguments that moved (*e2e*)",
		"boots on aarch64 (UEFI): from a file, off the image server, minimal, with a config and arguments that moved (*e2e*)",
	}},
	{"essential", "nginx benchmark", []string{"speed, measured: ranges and new connections beside nginx, allocations, memory, time of a build (`make bench-images`)"}},
	{"expected", "legacy ISOs (`coreKarg`)", []string{"media of every year since 2020: by igninfo.json and kargs.json, by headers, by the marker"}},
	{"expected", "kargs append, replace, delete", []string{"kernel arguments: append, replace, delete", "kernel arguments of an InfraEnv: operations in their order, unknown ones refused"}},
	{"expected", "console and arguments of the installed system", []string{
		"customize: live and installed system, networks, programs around the installation",
		"consoles of the installed system, kernel and boot loader: those that coreos-installer knows, on media whose installer does",
		"arguments for CoreOS' own installer (`coreos.inst.*`, `coreos.inst.persistent-kargs`): refused by their names, with what to do instead",
		"`coreos.inst.persistent-kargs` of the live system on the installed one",
	}},
	{"expected", "keyfiles in the initrd with parents", []string{"keyfiles in the initrd, with the folders above them"}},
	{"expected", "keyfile, network_data.json and MAC-matched inputs", []string{
		"nmstate, OpenStack's network data, keyfiles; clear refusals", "network_data.json, with link ids of any length", "networks by MAC address, in an image for many hosts",
	}},
	{"expected", "minimal ISO as overlay", []string{"minimal ISO by the medium's recipe, without a copy", "minimal ISO without a recipe"}},
	{"expected", "relocation or fail at build", []string{
		"a config that is larger than its area: the area moves, or the build fails with both sizes", "kernel arguments that are longer than their area: it moves, or the build fails with the reason",
		"kernel arguments on s390x beyond their 896 bytes",
	}},
	{"expected", "ppc64le, s390x", []string{"x86_64, aarch64, ppc64le, s390x: ISO, minimal ISO, network boot", "the files that s390x loads beside kernel and initrd"}},
	{"expected", "whole-config Ignition validation and override merge", []string{
		"the whole config judged when it is built, all mistakes at once", "the user's Ignition of any version, which wins", "Ignition itself judges every config that is written",
	}},
	{"expected", "offline CLI", []string{
		"embed and show a config, reset", "remove a config, kernel arguments to the default", "kernel arguments: show, append, delete, replace", "keyfiles: embed, take out, remove",
		"the same for an initrd", "wrap and unwrap configs and keyfiles, list an initrd", "boot files and minimal ISO", "the layout of a medium, and whether it can be minimal",
	}},
	{"expected", "boot artifacts and iPXE script", []string{"kernel, root file system and the paths of the hub's clients", "one script for all hosts, by the card that boots"}},
	{"expected", "verified base downloads with resume and hot add", []string{"media: downloaded with resume and digest, added and removed while it runs", "broken and cut media"}},
	{"expected", "TLS with reload, HTTP beside HTTPS", []string{"HTTP beside HTTPS, the certificate read again"}},
	{"expected", "static mode without Kubernetes", []string{"a folder of hosts served, and followed", "over HTTPS"}},
	{"expected", "fairness", []string{"limits for one host, one address and all, answered at once"}},
	{"expected", "progress metrics", []string{"how much of an image was read, each byte counted once"}},
	{"expected", "stalled-reader events", []string{"slow readers are served, stalled ones are dropped and named"}},
	{"expected", "secrets hygiene", []string{"secrets in private files only", "files with secrets are private from the start", "revoked at once, replaced ones for their readers"}},
	{"rare", "remote base over ranges with block cache", []string{"a base image that lies on another server and is read there by ranges"}},
	{"rare", "CORS", []string{"answers for pages of other origins (CORS)"}},
	{"rare", "non-CoreOS ISOs (magic-area patch, `cidata` volume)", []string{"live ISOs that are none of CoreOS (an area found by a magic text, a `cidata` volume)"}},
}

// steps is what the deploy steps need.
var steps = []demand{
	{"essential", "IPA file and unit", []string{"IPA's configuration, unit and gate in the live image"}},
	{"essential", "plugin with both steps", []string{"the plugin lists the steps and runs them"}},
	{"essential", "job result, follow, state table", []string{"start_assisted_install: the job's result, following, every state of the unit"}},
	{"essential", "deadlines", []string{"deadlines: start, idle, total, stage"}},
	{"essential", "reason and exit status", []string{"the reason of a failure, with exit status and journal"}},
	{"essential", "gate", []string{"IPA's configuration, unit and gate in the live image"}},
	{"essential", "marker and confirm_install", []string{"marker and confirm_install", "what firmware starts by itself is what counts for confirm_install"}},
	{
		"essential", "install_coreos with args, kargs, copy-network, host name",
		[]string{"install_coreos: its inputs, image with digest, kernel arguments, network, host name", "install_coreos: three tries, idle and total deadline"},
	},
	{
		"essential",
		"install_coreos: the UEFI boot entry",
		[]string{
			"boot menu: active, in the order, first, the others kept, dead ones of ours removed",
			"boot entries as efibootmgr writes them, and malformed ones",
			"firmware that refuses, forgets or protects its variables",
		},
	},
	{"expected", "progress", []string{"progress as heartbeats, and one at the end of a step"}},
	{"expected", "cancel, resume after IPA restart", []string{"a cancelled step, a restart of IPA"}},
	{"expected", "host-name fix, USB NIC filter, log collection", []string{"a host without a name, links to the BMC, logs without secrets"}},
	{"expected", "digest check", []string{"install_coreos: its inputs, image with digest, kernel arguments, network, host name"}},
	{
		"expected",
		"what the order to install asks for (`coreos_image`, `enable_skip_mco_reboot`)",
		[]string{
			"`coreos_image` and `enable_skip_mco_reboot`: done by another hub's or another installer's container; " +
				"the agent's own installer refuses them when the order comes, before anything is looked at, and the hub does not ask it for them",
			"`coreos_image` by the agent's own installer",
			"`enable_skip_mco_reboot` by the agent's own installer",
		},
	},
	{"rare", "software RAID boot entries", []string{
		"software RAID: removed, or kept; installed to where IPA takes one that stays, with its boot entries", "boot entries of a software RAID on a real one",
	}},
	{
		"rare", "foreign installer",
		[]string{
			"the stage is a field; without one no stage is late",
			"a step that gives up ends the installer's container, also if an earlier step was killed",
			"the container of an earlier step does not count as an installation",
		},
	},
	{"rare", "existing plugin with Ironflow's unit", []string{"the existing plugin with our unit: installed, and failed at once (*e2e*)"}},
	{
		"figure", "end noticed by Ironic: under 1 s + heartbeat",
		[]string{"progress as heartbeats, and one at the end of a step", "how soon an end is told, measured on a real systemd (`make bench-steps`)"},
	},
	{"figure", "failure, crash loop reported: 5 s, 1 min", []string{"a failure and an agent that crashes again and again are told within seconds"}},
}

// TestEachDemandHasItsRow: each point of both lists is answered by rows that are there, and
// that name tests or say why there is none.
func TestEachDemandHasItsRow(t *testing.T) {
	g := NewWithT(t)
	page := map[string]row{}
	for _, r := range rows(t) {
		page[r.feature] = r
	}
	for name, list := range map[string][]demand{"images": images, "deploy steps": steps} {
		seen := map[string]bool{}
		for _, d := range list {
			g.Expect(seen[d.line]).To(BeFalse(), "%s: twice: %s", name, d.line)
			seen[d.line] = true
			g.Expect(d.rows).NotTo(BeEmpty(), "%s: nothing answers for %s", name, d.line)
			shown := 0
			for _, feature := range d.rows {
				g.Expect(page).To(HaveKey(feature), "%s, %s: %s: the row is missing from docs/features.md", name, d.need, d.line)
				if !page[feature].left() {
					shown++
				}
			}
			if d.need == "essential" {
				g.Expect(shown).To(BeNumerically(">", 0), "%s: %s is left out, and everybody needs it", name, strings.ToLower(d.line))
			}
		}
	}
}

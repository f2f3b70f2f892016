package features

import (
	"testing"

	. "github.com/onsi/gomega"
)

// promise is something that users of baremetal-operator have, or that Ironflow
// was asked for, and the row of docs/features.md that answers for it: among those
// that tests show, or among those that are left out.
type promise struct{ what, row string }

// checklist is what must not be missing, in the order of a host's life. It is kept by
// hand: a row that goes takes its promise with it only where somebody decides so here.
var checklist = []promise{
	// The way to Ironic.
	{"an Ironic that asks for nothing", "without authentication"},
	{"user and password in files that may change", "HTTP basic, credentials read again"},
	{"a client certificate, a CA of one's own", "mutual TLS, CA read again"},
	{"certificates that nobody looks at, or whose names do not fit", "no verification, host name skipped"},
	{"tokens of Keystone", "Keystone"},
	{"old Ironics, and what they cannot do", "API version from 1.89, missing features named"},
	{"each kind of answer", "answers by kind: busy, refused, gone, unavailable"},
	{"an Ironic that is away", "an Ironic that is away costs no host its state"},
	{"a fleet at rest costs nothing", "watch instead of polling"},
	{"each call, and what is done in each state of a node", "every call, on the real Ironic and the simulator (*e2e*)"},
	{"the resource that another operator makes for an Ironic", "Ironic resource (`IRONIC_NAME`, `IRONIC_NAMESPACE`)"},
	{"the lifetime of what is known of Ironic", "`IRONIC_CLIENT_CACHE_TTL`"},

	// The program.
	{"variables of the environment", "the environment of baremetal-operator"},
	{"several replicas", "leader election: one replica works, the next takes over at once"},
	{"a part of the namespaces", "some namespaces, or all"},
	{"installed by helm", "a Helm chart, installed on a real API server for each way in; values that contradict each other are refused ([install.md](install.md))"},
	{"installed without helm", "`install.yaml` and `kubectl apply -k`, the same as the chart; newer definitions stay"},
	{"no more rights than it needs, and roles for people", "rights by feature and by namespace; viewer, operator, admin"},
	{"addresses that no BMC reaches", "published addresses that only the cluster reaches are refused at start"},
	{"examples", "samples of every kind that users write"},
	{"probes", "health: alive, and not ready while another operator works"},
	{"TLS versions and ciphers", "TLS: least version, cipher suites, certificates read again"},
	{"metrics that not everybody reads", "metrics over HTTPS, to those whom the API server lets read them"},
	{"how many hosts at once", "hosts worked on at once; no brake on requests to the API server"},
	{"limits of the client", "limits on requests to the API server (`-kube-api-qps`, `-kube-api-burst`)"},
	{"no secret where others read", "secrets stay out of errors, events and logs"},

	// The way to the machine.
	{"addresses of BMCs", "schemes, ports, paths, host:port as IPMI"},
	{"addresses that nobody can use", "addresses that are refused"},
	{"what Ironic is told of a BMC", "driver_info and interfaces by scheme"},
	{"versions of credentials", "credential versions, new credentials are sent"},
	{"a Secret that is not there", "a missing Secret is an error once"},
	{"a Secret that was mended", "corrected credentials need no back-off, and end the error of a host at rest"},
	{"marks on Secrets", "Secrets in use: label, owner and finalizer, also when hosts share one"},
	{"another Secret than before", "another Secret: the one of before is released, unless others use it"},
	{"Secrets of others", "Secrets of others are not held in memory, and followed all the same"},
	{"no network to boot from", "sites without a provisioning network"},
	{"BMCs with IPv6", "Ironic's image server for BMCs with an IPv6 address (`external_http_url`)"},
	{"BMCs with IPv6 behind a name", "`IRONIC_EXTERNAL_URL_V6` for a BMC that is named by a host name"},
	{"a BMC with trust of its own", "CA, authentication type and proxy of a single BMC"},

	// Registration.
	{"hosts without a BMC", "unmanaged hosts, Discovered"},
	{"the host's finalizer", "finalizer first"},
	{"a node that is there", "node found by id, name, MAC; taken over; conflict"},
	{"a node that is not", "enrolment and verification"},
	{"a database that is gone", "loss of Ironic's database, in every phase"},
	{"a database that is gone while something is installed", "loss of Ironic's database in mid deployment, and adoption (*e2e*)"},
	{"boot modes", "boot mode and secure boot in the node's capabilities"},
	{"ports", "ports: the one that it boots from, and those that were found"},
	{"architectures", "architecture: the spec's, the hardware's, the program's"},
	{"an architecture in the spec", "architecture written to the spec"},
	{"hardware profiles", "root device hints of hardware profiles"},
	{"hardware profiles that are not known", "hardware profile: unknown ones refused, others than the default told"},
	{"states of nodes that are nobody's wish", "states that no phase asks for are shown, and left alone"},
	{"maintenance by hand", "a person's maintenance is respected and shown"},
	{"faults", "faults are shown"},
	{"locked nodes", "a lock that lasts is shown, with its holder"},

	// Inspection.
	{"inspection", "by the agent, HardwareData and status.hardware"},
	{"no inspection", "disabled"},
	{"another inspection", "again, by annotation"},
	{"hardware that is known from elsewhere", "from HardwareData"},
	{"hardware that somebody writes down", "from the annotation, strictly read, always removed"},
	{"the life of HardwareData", "HardwareData is the host's: owner, finalizer, updated in place"},
	{"an inspection that was broken off", "aborted ones start again"},
	{"what is read out of an inventory", "two addresses of one NIC, LLDP, VLANs, disk types"},
	{"inspection by the BMC alone", "fast inspection (`inspectionMode: fast`)"},

	// Live image.
	{"an image per host", "PreprovisioningImage asked for, waited for, refused"},
	{"when it is waited for", "waited for in preparing and servicing, only with work"},
	{"images that are the same for all", "without a builder: ISO, or kernel and ramdisk, for all or by architecture"},
	{"images that are the same for all, in an object", "built-in image provider (PreprovisioningImages that name one image for all)"},
	{"networks of the live system", "static networks: in the image, or through the node without a builder"},
	{"the builder", "built: formats, network data, errors as conditions"},
	{"the end of an image", "finalizer goes last"},

	// Media, images, and their server.
	{"old media", "media of every year since 2020: by igninfo.json and kargs.json, by headers, by the marker"},
	{"downloads that were cut", "broken and cut media"},
	{"a medium in a drive", "a medium on a block device"},
	{"other architectures", "x86_64, aarch64, ppc64le, s390x: ISO, minimal ISO, network boot"},
	{"LPAR and z/VM", "the files that s390x loads beside kernel and initrd"},
	{"the medium's own bytes again", "Ignition embedded, shown, and the medium's own bytes after a reset"},
	{"a pull secret and certificates that are larger than the area", "a config that is larger than its area: the area moves, or the build fails with both sizes"},
	{"edits of kernel arguments", "kernel arguments: append, replace, delete"},
	{"many kernel arguments", "kernel arguments that are longer than their area: it moves, or the build fails with the reason"},
	{"kernel arguments of a mainframe", "kernel arguments on s390x beyond their 896 bytes"},
	{"static networks before the root file system is there", "keyfiles in the initrd, with the folders above them"},
	{"minimal ISOs", "minimal ISO by the medium's recipe, without a copy"},
	{"minimal ISOs of old media", "minimal ISO without a recipe"},
	{"network boot", "initrd with kernel, root file system and iPXE script"},
	{"IPA's settings", "ironic-python-agent: settings, unit, container or program"},
	{"the converged image", "both agents in one image: the host agent is started by the deploy step only"},
	{"an override", "the user's Ignition of any version, which wins"},
	{"mistakes before a host boots", "the whole config judged when it is built, all mistakes at once"},
	{"a config that no machine refuses", "Ignition itself judges every config that is written"},
	{"SAN disks", "disks of several paths (Fibre Channel, iSCSI, SAS), and those of iSCSI that the firmware names"},
	{"other units of the discovery image", "units of the discovery image for SELinux and Oracle's cloud"},
	{"OKD", "OKD's overlay in the discovery image"},
	{"each kind of network description", "nmstate, OpenStack's network data, keyfiles; clear refusals"},
	{"one image for many hosts", "networks by MAC address, in an image for many hosts"},
	{"media that boot", "boots under BIOS and UEFI: from a file, off the image server, by iPXE, minimal, with arguments that moved (*e2e*)"},
	{"tools that people have", "coreos-installer reads, edits and resets what we write (*e2e*)"},
	{"virtual media of each vendor", "ranges, several ranges, HEAD, If-Range and preconditions, 416"},
	{"connections for each range", "connections that are kept, and ranges that they answer without net/http, as that answers"},
	{"many BMCs at once", "many readers of one image get the right bytes"},
	{"a restart in the middle of a boot", "strong validators and addresses that are the same after a restart and in every replica"},
	{"BMCs that take short addresses only", "addresses as BMCs want them"},
	{"who knows no token", "nothing without its token, and no listing"},
	{"an address that ends", "addresses that end at a given time"},
	{"speed", "bytes of a medium go from the kernel to the socket, few allocations"},
	{"probes and metrics of the server", "readiness, liveness, metrics"},
	{"TLS", "HTTP beside HTTPS, the certificate read again"},
	{"fairness", "limits for one host, one address and all, answered at once"},
	{"progress of a boot", "how much of an image was read, each byte counted once"},
	{"readers that stop", "slow readers are served, stalled ones are dropped and named"},
	{"downloads of media", "media: downloaded with resume and digest, added and removed while it runs"},
	{"paths of the existing image service", "kernel, root file system and the paths of the hub's clients"},
	{"media on another server", "a base image that lies on another server and is read there by ranges"},
	{"browsers", "answers for pages of other origins (CORS)"},
	{"media of others", "live ISOs that are none of CoreOS (an area found by a magic text, a `cidata` volume)"},
	{"customization offline", "customize: live and installed system, networks, programs around the installation"},
	{"customization offline of an initrd", "the same for an initrd"},
	{"what an initrd holds", "wrap and unwrap configs and keyfiles, list an initrd"},
	{"what a medium holds", "the layout of a medium, and whether it can be minimal"},
	{"a config that shall go", "remove a config, kernel arguments to the default"},
	{"hosts without a cluster", "a folder of hosts served, and followed"},

	// RAID, BIOS, firmware, servicing.
	{"RAID by a controller", "hardware volumes: delete and create"},
	{"RAID that is there", "only if the spec differs from what was applied"},
	{"RAID that is not mentioned", "absent keeps hardware volumes"},
	{"RAID that shall go", "an empty list deletes them"},
	{"RAID by the agent", "software volumes"},
	{"RAID by the agent that is not mentioned", "software volumes deleted when the wish is gone"},
	{"from one kind of RAID to the other", "hardware volumes removed and software volumes made, in two cleanings"},
	{"sizes and disks of volumes", "size 0 as large as possible; disk type, controller, disks"},
	{"the volume that is booted", "the first volume is the root without hints"},
	{"the volume that is said to be booted", "`rootVolume` of software volumes"},
	{"volumes that cannot be", "refusals: driver, names, controller, number of disks, levels"},
	{"both kinds of RAID", "both kinds: software wins"},
	{"RAID after a failure", "a failure makes the volumes unknown"},
	{"BIOS settings as a resource", "HostFirmwareSettings made before a host leaves `registering`, adopted, read"},
	{"passwords of the BIOS", "passwords never shown"},
	{"what settings may be", "FirmwareSchema by content, without owner"},
	{"a judgement of settings", "ChangeDetected and Valid for each generation; ValidationFailed"},
	{"settings that are not judged yet", "a generation that was not seen is waited for, also by a wish that comes with it"},
	{"settings that are wrong", "invalid settings are not used"},
	{"settings on the wire", "differing names only, numbers as numbers"},
	{"the end of a change of settings", "done when a later read shows it"},
	{"a change of settings of a host at rest", "a change takes an available host back to preparing"},
	{"firmware as a resource", "HostFirmwareComponents only where components are listed; adopted"},
	{"what firmware can be updated", "bmc, bios, nic:…; others refused"},
	{"updates that were carried out", "only entries that were not carried out"},
	{"versions after an update", "status.updates and versions after the update"},
	{"one cleaning for all of it", "with RAID and settings in one cleaning"},
	{"firmware in the old place", "`spec.firmware`"},
	{"firmware that is read on a timer", "timers of HostFirmwareSettings and HostFirmwareComponents (every 5 minutes)"},
	{"servicing by policy", "opt-in by HostUpdatePolicy, each kind for itself"},
	{"when a machine is serviced", "only in a reboot"},
	{"servicing in the status", "operationalStatus servicing before anything"},
	{"servicing and power", "service, then power on"},
	{"servicing that fails", "failure, next attempt"},
	{"servicing that is no longer wanted", "aborted when the last wish is gone"},
	{"servicing of machines of others", "externally provisioned hosts"},
	{"a pause after servicing", "60 s pause after servicing"},

	// Provisioning.
	{"images and checksums", "image with typed and untyped checksum, format"},
	{"live ISOs", "live ISO"},
	{"images of registries", "OCI image with a pull Secret"},
	{"credentials of registries that are wrong", "pull Secret missing, of a wrong type, unreadable"},
	{"how Ironic deploys", "the deploy interface follows the wish"},
	{"what the firmware boots later", "persistent boot device of images and of live ISOs"},
	{"deploy steps of one's own", "custom deploy, with and without image"},
	{"the disk", "root device hints"},
	{"a look before", "validation before the deployment"},
	{"what the instance is given", "config drive: user, network, meta data"},
	{"failures of deploy steps", "a failed custom deploy without image is reported"},
	{"the words of a failure", "the text of a failure from the node's history"},
	{"an end of attempts", "retry limit, 5 unless set"},
	{"a count of attempts of its own", "`status.provisioningFailCount`, `lastAttemptedImage`"},
	{"another wish meanwhile", "a wish that changes in mid deployment"},
	{"an agent that is silent", "lost agent; the next deployment is not affected"},
	{"an Ironic that restarts", "restart of Ironic in mid operation"},
	{"erasing disks, or not", "cleaning modes"},
	{"giving back", "deprovisioning"},

	// Power.
	{"on and off", "online and offline"},
	{"power that others switch", "what is seen is saved first, and clears a power error"},
	{"one reboot", "reboot once, soft or hard"},
	{"several who ask for a reboot", "any hard one wins; unreadable values"},
	{"a client that keeps a machine off", "off while a client's key is there"},
	{"machines without a soft way", "no soft power: hard at once"},
	{"machines that do not obey", "hard after an error; each failure told, the next attempt later"},
	{"reboots that do not wait", "forced reboot of an inspection and of a deployment, once whatever the crash"},
	{"machines that are never off, and wishes that they were", "disablePowerOff: what would hold the machine off is not done, and said"},
	{"machines that are never off", "disablePowerOff: a reboot is one request, whatever the crash"},
	{"power that fails", "a power request that failed; the error ends when the machine is as wanted"},
	{"machines that are at work when they go", "a machine that is busy before it is switched off for good"},

	// Machines of others, pause, detach, move.
	{"machines that somebody else installed", "externally provisioned, and back"},
	{"adoption", "adoption without touching the machine"},
	{"a pause, or a hold", "paused, on hold"},
	{"detachment", "detach and attach"},
	{"detachment that does not wait", "detach by force"},
	{"the end of a detached host", "deletion of a detached host: delete, delay"},
	{"the end of a host that was detached", "deletion after the annotation went: attached first"},
	{"a status from another cluster", "status restored from the annotation; unreadable ones stop the host"},
	{"an error type that the schema refuses", "error type `detach error`"},

	// Deletion.
	{"the way out of each state", "the way of each state"},
	{"off before the end", "powered off before"},
	{"an end in spite of failures", "giving up after four failures of its own"},
	{"an end without a way to the machine", "no node and no credentials"},
	{"an end by force", "force-delete, also of a host whose status annotation cannot be read"},

	// What is said.
	{"types of errors", "error types of the API"},
	{"pauses between attempts", "back-off, spread, fixed over a restart"},
	{"conditions", "the six upstream conditions, and Stalled"},
	{"events", "every event and every cause of an error is documented"},
	{"who says an event, and about whom", "events: source of baremetal-operator, related to the consumer"},
	{"the history of a host", "start and end of operations in the status"},
	{"tools that wait for resources", "kstatus: Current, Failed, InProgress"},
	{"progress", "Progressing says since when, without periodic writes"},
	{"a fleet in figures", "hosts by phase, time in phase, stuck hosts"},
	{"figures of a host", "metric series per host on request"},
	{"metrics that dashboards know", "upstream metric names"},
	{"nothing by surprise", "nothing is done to a machine that was not asked for"},
	{"a program that dies", "crashes at every request"},
	{"taints", "`spec.taints`"},

	// Other kinds.
	{"media in a machine's drive", "attached before the machine starts, never under a running system"},
	{"other media, lost media", "change and removal at a reboot; lost media; errors with back-off"},
	{"media of Ironic's own", "a boot ISO in the drive does not count as a data image"},
	{"events of BMCs", "subscriptions made, found, lost, removed"},
	{"headers that change", "a changed Secret of `httpHeadersRef`"},
	{"hosts for those who may not see them", "claims: policy, choice, binding, release"},
	{"a host that is near", "claims: failure domain first, spread over hosts"},
	{"Secrets of a claim", "claims: Secrets of the claim's namespace only, copied and withdrawn"},
	{"switches", "`networkInterfaces`, BareMetalSwitch, HostNetworkAttachment"},
	{"mistakes that are refused", "rules in CEL for every kind, on a real API server"},

	// Taking over, and large fleets.
	{"a fleet that is taken over", "a fleet of baremetal-operator in every state: status writes only, nothing in Ironic"},
	{"a look before it is", "the check before (`ironflow migrate`)"},
	{"settings that do nothing", "the check knows the Ironic of baremetal-operator, and names settings without effect"},
	{"states that are no more", "states of old releases (`match profile`, `ready`)"},
	{"two operators", "waiting for baremetal-operator's lease"},
	{"capacity", "limits on hosts at work: all, network boot, per Ironic, per failure domain, in turn"},
	{"hosts that wait", "a host that waits for its turn says so and is woken"},
	{"more than one Ironic", "several Ironics, assigned once, written before the node"},
	{"another attempt, asked for", "a retry that was dealt with is not repeated by a restart"},

	// Deploy steps and disks.
	{"IPA in the live image", "IPA's configuration, unit and gate in the live image"},
	{"the steps in the ramdisk", "the plugin lists the steps and runs them"},
	{"a unit in every state", "start_assisted_install: the job's result, following, every state of the unit"},
	{"steps that take too long", "deadlines: start, idle, total, stage"},
	{"why a step failed", "the reason of a failure, with exit status and journal"},
	{"a machine that was restarted in mid step", "marker and confirm_install"},
	{"a step that is called off, an IPA that restarts", "a cancelled step, a restart of IPA"},
	{"how far a step is", "progress as heartbeats, and one at the end of a step"},
	{"what the existing plugin does besides", "a host without a name, links to the BMC, logs without secrets"},
	{"what install_coreos is given", "install_coreos: its inputs, image with digest, kernel arguments, network, host name"},
	{"an installer that fails", "install_coreos: three tries, idle and total deadline"},
	{"which disk", "the disk is the one that IPA takes"},
	{"hints", "hints as Ironic reads them: every operator, equal disks, fractions of sizes, names of the inventory"},
	{"disks that nobody may touch", "disks and arrays that the node skips are neither written nor cleared"},
	{"a disk that must not be written", "which disk may be written, for the step and the host agent alike"},
	{"disks behind a network", "multipath, iSCSI and Fibre Channel disks, and the arguments by which they are found again"},
	{"software RAID", "software RAID: removed, or kept; installed to where IPA takes one that stays, with its boot entries"},
	{"a disk that loses what is written", "a disk that fails is noticed while it is written"},
	{"a device that hangs", "a program that cannot be killed is given up, and the report is sent all the same"},
	{"programs that warn", "a program's answer is its output, the rest is log"},
	{"old and new IPAs", "ironic-python-agent 9.4.0 to 13.0.0; what one lacks is said when it starts"},
	{"a fleet's disks, really", "`install_coreos` on a real multipath disk, beside a kept RAID, on an iSCSI root, over a published network"},
	{"boot partitions of a RAID, really", "boot entries of a software RAID on a real one"},
}

// TestNothingOfTheChecklistIsMissing fails when a feature has no row, neither among
// those that are shown nor among those that are left out with a reason.
func TestNothingOfTheChecklistIsMissing(t *testing.T) {
	g := NewWithT(t)
	page := map[string]bool{}
	for _, r := range rows(t) {
		page[r.feature] = true
	}
	seen := map[string]bool{}
	for _, p := range checklist {
		g.Expect(seen[p.what]).To(BeFalse(), "twice in the checklist: %s", p.what)
		seen[p.what] = true
		g.Expect(page).To(HaveKey(p.row), "%s: the row is missing from docs/features.md", p.what)
	}
}

package model

// mended are histories that were found once. They are replayed, and nothing breaks.
var mended = map[string]string{
	"a wish that is taken back before Ironic was asked keeps the machine": `
scenario: provisioned
image B for a; request 1 is busy
image A for a`,
	"a method that is taken back before Ironic was asked keeps the machine": `
scenario: provisioned by a method
method N for a; request 1 is refused
method M for a`,
	"a wish that is taken back after Ironic was asked does not": `
scenario: provisioned
image B for a
image A for a`,
	"a wish that is taken back while the cache does not show that is carried out": `
scenario: provisioned
image B for a; request 1 is busy
image A for a; stale cache`,
	"a person's maintenance on top of that of a failed cleaning stays": `
scenario: given back
Ironic goes on with node-0
Ironic fails with node-0
somebody takes into maintenance node-0
time goes by`,
	"a person's maintenance in which a cleaning fails stays": `
scenario: given back
Ironic goes on with node-0
somebody takes into maintenance node-0
Ironic fails with node-0`,
	"a person's maintenance on top of that of failed servicing stays": `
scenario: about to be serviced
Ironic goes on with node-0
Ironic fails with node-0
somebody takes into maintenance node-0
time goes by`,
	"a deployment that is cut off is not begun anew for a host that is to be off": `
scenario: deploying
offline a
a restart of Ironic cuts off node-0`,
	"a deployment that is started over is not cleaned where that is disabled": `
scenario: deploying
no cleaning for a
annotation hard forced reboot on a`,
	"what is said to be kept just after it was called free is kept": `
scenario: left alone, since it was deployed
annotation inspect on a; crash after write 1
externally provisioned a`,
	"a machine whose servicing has failed can be used again": `
scenario: about to be serviced
Ironic goes on with node-0
Ironic fails with node-0
no image for a`,
	"servicing that has failed is not begun again for a host that is to be off": `
scenario: about to be serviced
Ironic goes on with node-0
Ironic fails with node-0
offline a
time goes by`,
	"a host that is restored while its machine is serviced is provisioned": `
scenario: about to be serviced
Ironic goes on with node-0
restored from a backup of when it was being deployed: a
Ironic fails with node-0
time goes by`,
	"a detached host is not attached at the BMC of one that is free": `
scenario: detached, with the BMC of another host
no image for a
Ironic goes on with node-0
Ironic goes on with node-0
annotation detached off b`,
	"a detached host has no claim to a machine that it was given since, also where its owner has lost all": `
scenario: detached, with the BMC of another host
annotation reboot by a client on a
Ironic goes on with node-0
moved to another cluster without its status: a
Ironic's database is lost
annotation detached off b
time goes by`,
	"a detached host is not attached at the BMC of another detached one that has lost its status": `
scenario: detached, with the BMC of another host
annotation detached by force on a
annotation detached off b
annotation reboot by a client on b
moved to another cluster without its status: a`,
	"a detached host is not attached at the BMC of a node that is renamed while its host has no status": `
scenario: detached, with the BMC of another host
moved to another cluster without its status: a
the right password in the Secret of a
somebody renames node-0
annotation detached off b`,
	"a detached host is not attached at the BMC of a node that is renamed and whose host is gone since": `
scenario: detached, with the BMC of another host
moved to another cluster without its status: a
somebody renames node-0
delete a
annotation detached off b`,
	"a host without a status gets no second node beside its own, which is renamed": `
scenario: provisioned
moved to another cluster without its status: a; crash after write 1
somebody renames node-0
the controller restarts`,
	"a detached host is not attached at the BMC of one whose status is lost": `
scenario: detached, with the BMC of another host
moved to another cluster without its status: a; look 3 fails
annotation hard forced reboot on b
the right password in the Secret of a
annotation detached by force off b`,
	"a detached host is not attached at the BMC of one that was given back, and whose status is lost": `
scenario: detached, with the BMC of another host
annotation detached off b
retry b
no image for a
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
moved to another cluster without its status: a`,
	"a host that is paused while its node is lost needs a person": `
LEFT ALONE FOR NOTHING: host a is in state "inspecting" and says: ` +
		"the host's status (inspecting) is of when the machine was worked on, which may have ended since, " +
		"and its former node is gone from Ironic (now node lab~a): " +
		"after a restore from an older backup something may be on it that nobody knows of, so it is left alone. " +
		`To keep that, set spec.externallyProvisioned. If nothing is needed of it, annotate the host with inspect.metal3.io
scenario: inspecting
the watch falls behind
somebody removes node-0
annotation paused on a
the watch catches up
a label on the Secret of a
annotation paused off a
Ironic goes on with node-1`,
	"what Ironic does is seen though the node was not read in full": `
scenario: provisioned
image B for a; request 1 is lost
Ironic goes on with node-0
offline a
the watch falls behind
somebody removes node-0
the watch catches up
Ironic goes on with node-1`,
	"a node that is enrolled anew for a machine at work, and whose id cannot be stored at once": `
scenario: inspecting
Ironic's database is lost; write 1 is refused
Ironic goes on with node-1`,
	"a reboot that a detachment has cut off is not made once more": `
scenario: never off
annotation hard forced reboot on a
annotation detached on a
Ironic goes on with node-0
annotation detached by force off a
Ironic goes on with node-1
Ironic fails with node-1
time goes by
Ironic goes on with node-1`,
	"a host that is moved while it is held has its status restored": `
scenario: never off
somebody removes node-0
time goes by
Ironic goes on with node-1
annotation hold on a
Ironic goes on with node-1
Ironic's database is lost
moved to another cluster with its status: a
annotation hold off a
Ironic goes on with node-2`,
	"an image that goes and comes back while it is deployed is deployed once": `
scenario: deploying
no image for a; crash after write 1
image A for a; request 1 is busy
Ironic goes on with node-0`,
	"a node that is renamed before its id is stored is found by the id that its enrolment named": `
scenario: provisioned
Ironic's database is lost; crash after write 1
somebody renames node-1`,
	"a host that is attached again has one node, though it is renamed before its id is stored": `
scenario: provisioned
annotation detached on a
annotation detached off a; crash after write 1
somebody renames node-1`,
	"a machine gets no second node beside that of a host that was deleted before it had a finalizer": `
scenario: two hosts of one BMC
moved to another cluster with its status: a; crash after write 1
delete a`,
	"a client's key stays": `
scenario: new
annotation reboot by a client on a`,
	"a client's key stays on the second host of a Secret": `
scenario: two hosts of one Secret
annotation reboot by a client on b`,
	"servicing of a machine that somebody has undeployed ends when its host is to be given back": `
scenario: about to be serviced
somebody undeploys node-0
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
no power-off for a; crash after write 2
Ironic's database is lost
Ironic goes on with node-1
Ironic goes on with node-1
no image for a`,
	"an image whose address redirects stays deployed": `
scenario: an image that redirects
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0`,
	"a method beside an image is no other wish": `
scenario: provisioned
method M for a`,
	"a method beside an image is no other wish for a node that was lost": `
scenario: provisioned
Ironic's database is lost
method M for a`,
	"an image beside a method is no other wish": `
scenario: provisioned by a method
image A for a`,
	"an image beside a method is no other wish for a node that was lost": `
scenario: provisioned by a method
Ironic's database is lost
image B for a`,
	"an image beside a method is no other wish for a host that is attached again": `
scenario: provisioned by a method
annotation detached on a
annotation detached off a; stale cache
image B for a`,
	"a verification that ends late is not followed by others without a pause": `
scenario: a wrong password
time goes by
time goes by
time goes by
time goes by
Ironic goes on with node-0
Ironic goes on with node-0`,
	"an inspection whose answer was lost is not made twice": `
scenario: new
Ironic goes on with node-0; request 1 is lost
Ironic goes on with node-0`,
	"a restart that was turned away once is made once": `
scenario: never off
annotation reboot on a; request 1 is busy
Ironic goes on with node-0`,
	"a forced restart that was turned away once is made once": `
scenario: never off
annotation hard forced reboot on a; request 1 is busy
Ironic goes on with node-0`,
	"a second host with the BMC of one in use waits": `
scenario: two hosts of one BMC`,
	"a host that is detached by its annotation stays so when its status is lost": `
scenario: provisioned
annotation detached on a
moved to another cluster without its status: a`,
	"a machine that somebody undeploys is not shown as ready": `
scenario: provisioned
somebody undeploys node-0
Ironic fails with node-0`,
	"an externally provisioned machine that somebody undeploys is not shown as ready": `
scenario: externally provisioned
somebody undeploys node-0
Ironic fails with node-0`,
	"a host that is detached by its annotation stays so when its status is lost while its node is enrolled": `
scenario: provisioned
Ironic's database is lost
annotation detached on a
moved to another cluster without its status: a
Ironic goes on with node-1`,
	"a password that a lost node was enrolled with before a crash is not taken for that of before": `
scenario: provisioned
annotation hold on a
Ironic's database is lost
another password in the Secret of a
annotation hold off a; crash after write 2
the right password in the Secret of a
Ironic goes on with node-1`,
	"a password that was sent before a crash is not taken for that of before": `
scenario: provisioned
another password in the Secret of a; crash after write 2
the right password in the Secret of a`,
	"a password that was sent, or was to be sent, before a crash is not taken for that of before": `
scenario: provisioned
another password in the Secret of a; crash after write 1
the right password in the Secret of a`,
	"a power error ends where power-off is forbidden afterwards": `
scenario: provisioned
offline a; request 1 is refused
no power-off for a`,
	"an error of before a restart was announced is not the restart's own after a crash": `
scenario: provisioned
annotation hard forced reboot on a; request 1 is refused
no power-off for a; crash after write 3`,
	"an error of a restart that was refused is not that of the next request after a crash": `
scenario: never off
annotation hard forced reboot on a; request 1 is refused
time goes by; crash after write 2`,
	"a machine that was off for a restart is not switched off again": `
scenario: provisioned
annotation reboot on a
Ironic goes on with node-0; crash after write 1
somebody presses the button of node-0`,
	"a machine that was off for a hard restart is not switched off again": `
scenario: provisioned
annotation hard forced reboot on a
Ironic goes on with node-0; crash after write 1
somebody presses the button of node-0`,
	"a machine that was off for a restart while its host failed is not switched off again": `
scenario: two hosts of one BMC
annotation hard forced reboot on a
delete b
another password in the Secret of a; request 1 is refused
Ironic goes on with node-0
somebody presses the button of node-0
time goes by`,
	"a reboot of before a deployment that the cache did not show is not made after it": `
scenario: available
image A for a
Ironic goes on with node-0; request 1 is busy
annotation reboot on a; stale cache
Ironic goes on with node-0`,
	"a machine that a cleaning which failed has left on is switched off": `
scenario: provisioned by a method
offline a; crash after write 3
Ironic goes on with node-0
no method for a
no cleaning for a
the controller restarts
Ironic goes on with node-0
Ironic fails with node-0
time goes by`,
	"that a machine which may be in use is seen on does not say that it is free, once its node is gone": `
scenario: left alone, and off
the Secret goes of a
somebody presses the button of node-1; look 1 fails
somebody removes node-1
Ironic goes on with node-2`,
	"an empty machine that was said to be external while its adoption was not stored is left alone until a person says more": `
scenario: available
externally provisioned a; crash after write 2
not externally provisioned a
Ironic goes on with node-0`,
	"a deletion that has failed is tried again beside a host that is looked at every few seconds": `
scenario: two hosts of one Secret
Ironic goes on with node-1
Ironic goes on with node-1
no power-off for a
Ironic goes on with node-1
delete a
the Secret goes of b
moved to another cluster without its status: b
Ironic fails with node-0
time goes by`,
	"a restart is not made again because Ironic has lost sight of the power since": `
scenario: never off
annotation hard forced reboot on a
an empty password in the Secret of a; stale cache
Ironic goes on with node-0
Ironic loses sight of the power of node-0
Ironic sees the power of node-0
the right password in the Secret of a`,
	"a restart that the cache does not show starts the deployment over that has just begun": `
scenario: available
image A for a; stale cache
Ironic goes on with node-0; request 1 is down
annotation hard forced reboot on a; stale cache`,
	"a machine that is serviced when its image goes is not cleaned where that is disabled since": `
scenario: about to be serviced
Ironic goes on with node-0
no cleaning for a
no image for a`,
	"what is to be kept is kept though its host is deleted before it could be told so": `
scenario: given back
Ironic goes on with node-0
Ironic goes on with node-0
an empty password in the Secret of a
Ironic goes on with node-0
externally provisioned a
delete a`,
	"a machine works whose host is not said to be in that phase when the controller dies": `
scenario: two hosts of one limit
Ironic goes on with node-1; crash after write 1
image B for a`,
	"a host whose node is verified again waits for its slot": `
scenario: one at work, and one in line
Ironic goes on with node-1
somebody removes node-1
Ironic goes on with node-2`,
	"a machine works whose host comes from another cluster": `
scenario: one at work, and one in line
Ironic goes on with node-1
moved to another cluster with its status: a`,
}

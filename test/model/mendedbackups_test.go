package model

// mendedBackups are those of [mended] in which a host is restored from a backup.
var mendedBackups = map[string]string{
	"what is to be kept is so once the status says it, though the machine is yet to be adopted": `
scenario: never off
no cleaning for a
no image for a; look 1 fails
time goes by
Ironic goes on with node-0
externally provisioned a
restored from a backup of when it was being deployed: a
Ironic goes on with node-0`,
	"a deployment that has failed keeps its wish, so that another is not made of nothing": `
scenario: new
a label on a
Ironic goes on with node-0
Ironic goes on with node-0
method N for a
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was available: a
a restart of Ironic cuts off node-0; crash after write 5
time goes by
image B for a`,
	"a machine that is registered anew and whose node holds an instance is seen to be in use": `
scenario: inspecting
annotation hard forced reboot on a
image A for a
Ironic goes on with node-0
annotation reboot by a client on a
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was being deployed: a
time goes by
Ironic goes on with node-0
moved to another cluster without its status: a
Ironic's database is lost
Ironic goes on with node-1`,
	"what was seen of a node before it was read in full proves nothing": `
scenario: provisioned by a method
annotation detached on a
restored from a backup of when it was being deployed: a; write 4 is lost
Ironic's database is lost
Ironic goes on with node-2`,
	"a deployment that was seen to have ended, and not stored, is not under way": `
scenario: never off
annotation other on a
somebody takes into maintenance node-0
no cleaning for a
restored from a backup of when it was being deployed: a
somebody removes node-0
Ironic goes on with node-1`,
	"a host that is said to be external right after a move, and whose image goes, is not given back": `
scenario: provisioned
a label on the Secret of a
restored from a backup of when it was provisioned: a
moved to another cluster with its status: a; crash after write 1
externally provisioned a
no image for a`,
	"two backups one after the other, the node gone before: neither has the node proven": `
scenario: inspecting
Ironic goes on with node-0
Ironic goes on with node-0
method M for a
Ironic goes on with node-0
Ironic goes on with node-0
offline a
annotation detached on a
Ironic goes on with node-0
restored from a backup of when it was available: a
Ironic goes on with node-1
Ironic goes on with node-1
restored from a backup of when it was being deployed: a`,
	"two backups one after the other, the node gone before, and a restart that the first one allows": `
scenario: provisioned, with a backup of when it was off
annotation detached on a
restored from a backup of when it was available: a
Ironic goes on with node-1
the watch falls behind
the watch catches up
online a
annotation hard forced reboot on a
restored from a backup of when it was being deployed: a`,
	"a wish that goes while its node is gone: a backup of when it was deployed is not believed": `
scenario: provisioned by a method
no cleaning for a
somebody removes node-0
Ironic goes on with node-1
Ironic goes on with node-1
no method for a
Ironic goes on with node-1
externally provisioned a; look 2 fails
restored from a backup of when it was being deployed: a
Ironic goes on with node-1`,
	"two backups one after the other, the node gone before: the second one is not believed": `
scenario: inspecting
Ironic goes on with node-0
Ironic goes on with node-0
method N for a
Ironic goes on with node-0
offline a; look 2 fails
Ironic goes on with node-0
annotation detached by force on a
Ironic goes on with node-0
restored from a backup of when it was available: a
Ironic goes on with node-1
restored from a backup of when it was being deployed: a
Ironic goes on with node-1`,
	"a wish that goes while Ironic's database is lost: a backup of when it was deployed is not believed": `
scenario: given back
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
no cleaning for a
Ironic loses sight of the power of node-0
Ironic sees the power of node-0
offline a
Ironic's database is lost
no image for a
Ironic goes on with node-1
Ironic goes on with node-1
restored from a backup of when it was being deployed: a`,
	"a deployment that a backup asks for of a node that is gone is not one of before": `
scenario: given back
Ironic's database is lost
Ironic goes on with node-1
restored from a backup of when it was being deployed: a
Ironic goes on with node-1
method N for a
restored from a backup of when it was given back: a`,
	"a deployment that a backup asks for is not one that was called off before it began": `
scenario: available
method M for a
no method for a
Ironic goes on with node-0
annotation hold on a
Ironic goes on with node-0
restored from a backup of when it was being deployed: a
Ironic goes on with node-0
restored from a backup of when it was given back: a; look 3 fails`,
	"a backup of when another deployment was called off does not give back what was deployed since": `
scenario: deploying by a method
Ironic fails with node-0
method N for a
method M for a
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
annotation inspect on a
restored from a backup of when it was given back: a`,
	"a host that is external now is adopted though its inspection was cut off": `
scenario: inspecting
Ironic goes on with node-0
Ironic goes on with node-0
annotation inspect on a
restored from a backup of when it was available: a; request 4 is refused
externally provisioned a
method N for a
a restart of Ironic cuts off node-0
time goes by`,
	"a reboot that a backup holds is not made of another system": `
scenario: given back
annotation reboot on a
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was given back: a`,
	"a backup of when a machine was being deployed, its node gone since, and the machine off: it is no free one": `
scenario: provisioned
offline a
no cleaning for a; look 3 fails
Ironic goes on with node-0
annotation detached by force on a
restored from a backup of when it was being deployed: a
Ironic goes on with node-1`,
	"a backup of before another deployment, its node gone since: nobody can tell what is on the machine, and it is adopted": `
scenario: given back
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
Ironic's database is lost
the controller restarts
restored from a backup of when it was provisioned: a
Ironic goes on with node-1
Ironic goes on with node-1`,
	"a backup of when a machine was given back, while an earlier backup is deployed, does not give that back": `
scenario: provisioned, with a backup of when it was off
no image for a
Ironic goes on with node-0
restored from a backup of when it was being deployed: a
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was given back: a`,
	"what a restored backup says was sent of the credentials is not believed": `
scenario: provisioned, with a backup of when it was off
another password in the Secret of a
annotation hold on a
the right password in the Secret of a
restored from a backup of when it was being deployed: a`,
	"a backup of before another image was asked for, restored while that is deployed, is not told as what is there": `
scenario: given back
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was provisioned: a`,
	"a backup of before another image was asked for, and that is deployed, is not told as what is there": `
scenario: provisioned
image B for a
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was provisioned: a`,
	"a backup of when a machine was given back does not give back what was deployed since": `
scenario: provisioned
image B for a
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was given back: a`,
	"a backup of when a machine was being deployed does not deploy another system than runs": `
scenario: provisioned
image B for a
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was being deployed: a`,
	"a backup of when a machine was given back does not give back the same that was deployed since": `
scenario: provisioned
no image for a
Ironic goes on with node-0
Ironic goes on with node-0
image A for a
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was given back: a`,
	"a backup of before a deployment switches nothing off": `
scenario: provisioned, with a backup of when it was off
restored from a backup of when it was available: a`,
	"a backup of before a deployment, and no node that tells of it, switches nothing off": `
scenario: provisioned, with a backup of when it was off
Ironic's database is lost
restored from a backup of when it was available: a`,
	"a backup of before a deployment, of a detached host, switches nothing off": `
scenario: provisioned, with a backup of when it was off
annotation detached on a
restored from a backup of when it was available: a`,
	"a backup of before a deployment, and no node that tells of it, is no free machine": `
scenario: new
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
image A for a; stale cache
Ironic goes on with node-0
Ironic goes on with node-0
annotation detached on a
restored from a backup of when it was available: a
Ironic goes on with node-1
image A for a`,
	"a machine of a backup that is left alone is so whichever of its nodes is lost": `
scenario: provisioned, with a backup of when it was off
method N for a
annotation detached on a
annotation inspect on a
restored from a backup of when it was available: a
Ironic goes on with node-1
Ironic's database is lost
Ironic's database is lost
Ironic goes on with node-3`,
	"a client's key of a backup keeps no machine off that may be in use": `
scenario: given back
Ironic goes on with node-0
annotation forced reboot by a client on a; write 1 is refused
Ironic goes on with node-0
no image for a
restored from a backup of when it was being deployed: a
Ironic goes on with node-0
annotation detached by force on a
restored from a backup of when it was available: a
Ironic goes on with node-1`,
	"a machine that was given back since its backup is not adopted": `
scenario: given back
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
annotation inspect on a
no cleaning for a
no image for a
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was provisioned: a`,
	"a backup of when a deployment was called off gives back that very one, which went on since": `
scenario: an image that redirects
Ironic goes on with node-0
Ironic goes on with node-0
no image for a
restored from a backup of when it was being deployed: a
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was given back: a`,
	"a backup of when a deployment was called off gives back that very one, also after a move": `
scenario: an image that redirects
no power-off for a
Ironic goes on with node-0
Ironic goes on with node-0
no image for a
restored from a backup of when it was being deployed: a
Ironic goes on with node-0
annotation reboot by a client on a
Ironic goes on with node-0
moved to another cluster without its status: a
restored from a backup of when it was given back: a`,
	"a machine gets no second node beside that of a host which was given its address meanwhile": `
scenario: two hosts of one BMC
annotation detached by force on a
the BMC of an empty machine for a
annotation delete-for-move on a
the controller restarts
Ironic goes on with node-1
restored from a backup of when it was provisioned: a`,
	"what was given back and never seen free since is not taken over by a status of before": `
scenario: given back
Ironic goes on with node-0
Ironic fails with node-0
time goes by
no cleaning for a; crash after write 3
Ironic goes on with node-0
Ironic goes on with node-0
annotation inspect on a
image A for a
Ironic goes on with node-0
restored from a backup of when it was provisioned: a
Ironic goes on with node-0`,
	"a node is told of the BMC that a backup names, though somebody holds it as the host finds it": `
scenario: provisioned, with a backup of when it was off
annotation detached on a
the BMC of an empty machine for a
moved to another cluster with its status: a
annotation detached off a
Ironic goes on with node-1
Ironic goes on with node-1
restored from a backup of when it was provisioned: a
Ironic goes on with node-1`,
	"a node that came to know of a doubt alone is yet to be told of the BMC that a backup names": `
scenario: available
annotation detached on a
the BMC of an empty machine for a
annotation detached off a
Ironic goes on with node-1
Ironic goes on with node-1
restored from a backup of when it was available: a; request 2 is busy`,
	"a node of the BMC of between goes, though what it holds is unknown to the backup": `
scenario: provisioned, with a backup of when it was off
annotation detached on a
the BMC of an empty machine for a
moved to another cluster with its status: a
annotation detached off a
Ironic goes on with node-1
Ironic goes on with node-1
restored from a backup of when it was available: a`,
	"a node that was told of a later spec is told of that of the backup": `
scenario: provisioned
certificate not verified for a
restored from a backup of when it was provisioned: a`,
	"a node that was told of a later spec, by the object of another cluster, is told of that of the backup": `
scenario: provisioned, with a backup of when it was off
moved to another cluster with its status: a
certificate not verified for a
restored from a backup of when it was provisioned: a`,
	"a node that was told of an older spec by a backup is told of a newer one by the next backup": `
scenario: an image that redirects
the Secret goes of a
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
certificate not verified for a
Ironic goes on with node-0
restored from a backup of when it was being deployed: a
restored from a backup of when it was provisioned: a`,
	"what is deployed on the node of a host that is restored as having something else is not taken for that": `
scenario: given back
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was provisioned: a; write 1 is refused
Ironic goes on with node-0`,
	"a detached host with another one's BMC speaks of the machine that it had, also where that one has lost its status": `
scenario: detached, with the BMC of another host
no image for a
Ironic goes on with node-0
no power-off for b
Ironic goes on with node-0
retry a
Ironic goes on with node-0
restored from a backup of when it was being deployed: a
moved to another cluster without its status: a
Ironic goes on with node-0`,
	"a machine that was adopted as somebody else's is not what a deployment of before has ended with": `
scenario: cleaned before it is deployed
no cleaning for a
Ironic goes on with node-0
no image for a; stale cache
Ironic goes on with node-0
externally provisioned a
Ironic goes on with node-0
Ironic goes on with node-0
the watch falls behind
restored from a backup of when it was being deployed: a`,
	"a machine that was adopted as somebody else's is kept by who says so": `
scenario: cleaned before it is deployed
no cleaning for a
Ironic goes on with node-0
no image for a; stale cache
Ironic goes on with node-0
externally provisioned a
Ironic goes on with node-0
Ironic goes on with node-0
restored from a backup of when it was being deployed: a
externally provisioned a`,
	"an image with a method is not the image alone that a backup says to be there": `
scenario: left alone, and off
restored from a backup of when it was being deployed: a
another password in the Secret of a
method M for a; write 4 is refused
annotation inspect on a
Ironic goes on with node-1
Ironic goes on with node-1
restored from a backup of when it was provisioned: a`,
	"a machine that is kept off is told of how its BMC is reached": `
scenario: provisioned by a method
annotation hard forced reboot on a
annotation reboot by a client on a
Ironic goes on with node-0
certificate not verified for a`,
	"a node that a person has taken into maintenance stays where its host has another BMC": `
scenario: deploying
annotation detached on a
Ironic goes on with node-0
the BMC of an empty machine for a
annotation detached off a
Ironic goes on with node-1
Ironic goes on with node-1
Ironic goes on with node-1
somebody takes into maintenance node-1
restored from a backup of when it was provisioned: a`,
	"a machine that may be in use and comes on by itself is not deployed by the power of before": `
scenario: left alone, and off
image A for a
moved to another cluster with its status: a
by itself comes on the machine of node-1; request 4 is refused
a label on a
online a`,
	"a machine that may be in use is not deployed by the power of before, as nobody knows any more what its BMC told": `
scenario: left alone, and off
by itself comes on the machine of node-1
the controller restarts
image A for a
online a`,
	"a machine that may be in use is not deployed by the power that was seen before its BMC told": `
scenario: left alone, and off
by itself comes on the machine of node-1
image A for a
online a`,
	"a machine that a backup gives back to a node is not deployed by the power of the one that the node was of": `
scenario: provisioned, with a backup of when it was off
annotation detached on a
the BMC of an empty machine for a
annotation detached off a
Ironic goes on with node-1
Ironic goes on with node-1
Ironic goes on with node-1
no image for a
offline a
Ironic goes on with node-1
Ironic goes on with node-1
restored from a backup of when it was available: a
image A for a
online a`,
	"what may be installed, and is to be kept, is not cleaned with a host that could not be told so": `
scenario: left alone, since it was deployed
somebody removes node-1; request 4 is down
an empty password in the Secret of a; crash after write 5
externally provisioned a
delete a
Ironic goes on with node-2`,
}

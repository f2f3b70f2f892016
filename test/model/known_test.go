package model

// known are histories that must not be and still are: each is a fault of the product
// that is yet to be mended. A search may find them, and what is no more than them and
// more moves. When one is mended, it goes from here to those that are replayed.
var known = []struct{ why, story string }{
	{why: "an empty machine that is said to be external and then not, while its adoption is not stored, needs a person", story: `
LEFT ALONE FOR NOTHING: host a is in state "available" and says: node lab~a in Ironic is "active": something was deployed on this machine (what it is was not recorded) of which the host's status knows nothing, as after a restore from an older backup, so the machine is left alone. To keep what runs, set spec.externallyProvisioned; to have the machine cleaned, undeploy the node in Ironic
scenario: available
externally provisioned a; crash after write 1
not externally provisioned a
Ironic goes on with node-0`},
	{why: "a free machine that is on, of a backup, whose node is lost twice in a row: the second node does not know that it may be in use", story: `
SWITCHED OFF UNASKED: Ironic is asked for "power off" of the machine of node lab~a, which runs "http://images/A with "
scenario: provisioned, with a backup of when it was off
method N for a
annotation detached on a
annotation inspect on a
restored from a backup of when it was available: a
Ironic goes on with node-1
Ironic's database is lost
Ironic's database is lost
Ironic goes on with node-3`},
	{why: "two backups one after the other and a detachment by force between: the second one's machine is switched off", story: `
SWITCHED OFF UNASKED: Ironic is asked for "soft power off" of the machine of node lab~a, which runs "http://images/A with "
scenario: given back
Ironic goes on with node-0
annotation forced reboot by a client on a; write 1 is refused
Ironic goes on with node-0
no image for a
restored from a backup of when it was being deployed: a
Ironic goes on with node-0
annotation detached by force on a
restored from a backup of when it was available: a
Ironic goes on with node-1`},
	{why: "a backup of when it was provisioned is restored after the machine was given back without cleaning: it says what was there before", story: `
UNTRUE: host a says that its machine has "http://images/A with ", and it has "http://images/B with "
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
restored from a backup of when it was provisioned: a
Ironic goes on with node-0`},
	{why: "the deletion of a host whose Secret the other one has lost, and whose teardown fails in Ironic, is not tried again", story: `
NEVER RECOVERS: host a is in state "deprovisioning", its node is error, and it still fails: it failed
scenario: two hosts of one Secret
Ironic goes on with node-1
Ironic goes on with node-1
no power-off for a
Ironic goes on with node-1
delete a
the Secret goes of b
moved to another cluster without its status: b
Ironic fails with node-0
time goes by`},
}

package node

// Grow is a unit for the installed system of package medium, whose root file system does
// not grow by itself as that of CoreOS does: programs and images of a node need three
// times as much as it leaves. It is a user's own, by an override of the Ignition.
const Grow = `[Unit]
Description=Grow the root file system to the end of its disk
ConditionKernelCommandLine=!coreos.liveiso
Before=ironflow-programs.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/bash -euc 'root=$$(findmnt -no SOURCE /); part=$$(basename $$root); disk=/dev/$$(lsblk -ndo PKNAME $$root); number=$$(cat /sys/class/block/$$part/partition); echo ", +" | sfdisk --force --no-reread --no-tell-kernel -N $$number $$disk; partx --update --nr $$number $$disk; resize2fs $$root'
[Install]
WantedBy=multi-user.target
`

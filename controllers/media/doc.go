// Package media attaches DataImages: ISO images that the system of a
// provisioned machine finds in its virtual CD drive.
//
// A medium is never changed under a running system. The host controller asks at
// the [Gate] before it starts a machine, and waits until this controller has
// brought the virtual media to what the DataImage says (or until the DataImage
// is gone). Between a power-off and a power-on nobody else works on the node, and
// Ironic's own lock guards each request. The same is asked for before a machine that
// was given back is used again, or its node is removed: then whatever was attached for
// its former use is ejected.
//
// [Decide] holds the policy and is pure. A request to attach is announced in the
// status before it is made, so that after a crash a medium of ours is always
// known as such. What the Gate remembers can be lost: then the BMC is looked at
// once more.
package media

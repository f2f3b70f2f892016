// Package nodeaction holds what is known of a host's node in Ironic, and the actions on a node. How well the
// node is known is a matter of types: a [Sight] shows what the watch keeps, a [Known] node has been read in full
// at some time, a [Read] node in this pass. An action can only be made from the kind of node that it needs, so
// that acting on fields that were never read does not compile. Nothing here talks to Ironic.
package nodeaction

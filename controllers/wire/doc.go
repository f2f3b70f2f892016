// Package wire makes talking to the API server cheap where a fleet talks most: in
// the watch of custom resources, and in the answers to writes.
//
// Custom resources come as JSON, and the libraries read each byte of a watch event
// ten times: to find its end, to find its type, to find the kind in it, and at last
// for what it says, twice for each. [NewInformer] has it read twice. The answer to
// a write is the whole object, of which a writer uses the metadata; [Brief] asks
// for no more, and [Transport] makes that an answer which a typed client can read.
// In both, who wrote which field (managedFields) is left out before it is decoded.
// Events, of which there are more than of any other request, go as protobuf
// ([Events]).
//
// All keep to what the API server is known to send, look whether that is what has
// come, and else leave it to the libraries.
package wire

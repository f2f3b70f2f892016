// Package wire makes talking to the API server cheap where a fleet talks most: in
// the answers to writes, and in events.
//
// The answer to a write is the whole object, of which a writer uses the metadata.
// [Brief] asks for no more, and [Transport] makes that an answer which a typed
// client can read, without who wrote which field (managedFields).
// Events, of which there are more than of any other request, go as protobuf
// ([Events]).
//
// Without both the program works as well, for a tenth more CPU time each (see
// docs/scale.md for the limit).
package wire

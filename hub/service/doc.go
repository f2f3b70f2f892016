// Package service is the hub's application core: what happens to infra-envs,
// hosts, clusters and their installations, for the REST API and for the
// controllers alike.
//
// The main type is [Hub]. Polls are answered from memory (package snapshots).
// Every other call is one unit of work: records are read in
// one transaction, changed by the tables of hostmachine and clustermachine
// until nothing follows any more, and stored together with their events. So
// a reply of an agent leads to its consequences at once, not at the next tick;
// the only clock is the monitor ([Hub.Run]), for what happens because nothing
// happened. Changes are announced to subscribers after they are stored.
package service

// Package service is the hub as others see it: [New] puts the parts together,
// and [Hub] has everything that can happen to infra-envs, hosts, clusters and
// their installations, for the REST API and for the controllers alike.
//
// The parts are packages of their own, by topic; what they have in common is the
// unit of work that ends settled (package settle). Polls are answered from memory
// (package polls). Every other call reads records in one transaction, has them
// changed by the tables of hostmachine and clustermachine until nothing follows
// any more, and stores them together with their events. So a reply of an agent
// leads to its consequences at once, not at the next tick; the only clock is the
// monitor ([Hub.Run]), for what happens because nothing happened. Changes are
// announced to subscribers after they are stored.
package service

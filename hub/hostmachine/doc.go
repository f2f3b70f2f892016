// Package hostmachine is the life of a host in the hub, as one table: which
// trigger leads from which status to which, under which guards, and what else
// has to happen.
//
// It is pure. The caller gathers [Facts] from its records, asks
// [Machine].Decide, and applies the status, the text and the effects. Statuses
// and triggers are those of the assisted-service v2 protocol, so that existing
// agents and clients understand every host.
package hostmachine

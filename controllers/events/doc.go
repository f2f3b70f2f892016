// Package events writes the controllers' events behind their other requests.
//
// client-go sends each event at once and by itself. When a whole fleet moves, its
// thousands of events then race the status patches that the hosts wait for, and
// the hosts lose. Here events queue up, and a few requests at a time write them:
// with little to do an event is there as soon as ever, and with much to do it is
// late instead of the hosts. Each carries the time at which it happened.
//
// Aggregation stays client-go's: what repeats becomes a series of one event.
package events

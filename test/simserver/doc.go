// Package simserver holds what the simulated services share: a transport that
// needs no network, timers that run under a server's lock, and counts of requests.
package simserver

// Package polls answers agents that ask what to do. The answers come from
// snapshots in memory; the time of a poll is noted there, too, and stored in
// batches ([Answerer.KeepCheckIns]). Only a poll that changes more than that time is
// a unit of work. The main type is [Answerer].
package polls

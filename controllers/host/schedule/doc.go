// Package schedule decides when a host is looked at, and how many are at the same
// time. docs/scheduling.md tells the way of one wake, and what each part is measured
// to keep. The main type is [Scheduler].
//
//   - Event sources put hosts into the queue of controller-runtime.
//   - The start limiter leaves room for hosts whose machines wait.
//   - [Scheduler.Retries] keep the waits after errors, also of hosts in line.
//   - [Slots] hold hosts at work to the limits that users set.
package schedule

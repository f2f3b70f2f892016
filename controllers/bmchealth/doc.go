// Package bmchealth reads how the parts of machines are, from their BMCs, and says it
// on the kind BMC: the worst of each domain and the condition Healthy. What a log or a
// part says newly becomes an event of the host.
//
// A host is read every few minutes, by one to twelve requests, once Ironic has got it
// ready. What was read before (which log entries, which parts were bad) is remembered;
// after a restart old log entries are told no second time, since the first look only
// notes how far a log is.
//
// Entry point: [Setup].
package bmchealth

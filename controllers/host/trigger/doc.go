// Package trigger lists what counts as "somebody changed something": the one reason to
// try a failed host again before its back-off is over, and to begin its count of failures
// anew. What is not in [Table] is no reason: marks on a Secret, another host that begins
// to use it, annotations and labels of others, the status.
//
// It is pure: [Of] reads the values, a condition of the host keeps those that the present
// error was recorded with ([Record]), and [Changed] compares the two. So a restart of the
// program neither repeats an attempt nor forgets a request.
package trigger

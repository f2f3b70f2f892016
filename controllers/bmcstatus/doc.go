// Package bmcstatus is the end of a pass over the kind BMC, whose status several
// controllers write: each its own conditions and fields. A [Writer] brings what a pass has
// changed, and nothing else, into what is stored. Where another controller was faster, it
// does so with what that one has written: a pass has asked a BMC for seconds or minutes,
// and is not to be made again for that. [Outcome] tells the queue what came of it.
package bmcstatus

// Package probe finds out what a BMC is and what it can do, and says what proved
// it. [Probe] reads and never writes; its result is a report of the API, with a
// verdict on every row of [Capabilities]: Yes, No (the service does not offer it)
// or Unknown (it could not be read, and why).
//
// What is read arrives in small structs of tolerant values, so that one wrong type
// or one resource that fails costs that row and no more. Requests are counted: what
// decides is read first, long lists are sampled, and the report says so. What the
// answers mean is decided by pure functions, beside the readers.
package probe

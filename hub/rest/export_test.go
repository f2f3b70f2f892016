package rest

// Served tells tests and the table of docs/hub.md whether this hub serves the operation.
func (o Operation) Served() bool { return handlers[o.ID] != nil }

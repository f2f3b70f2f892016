package rest

// Served tells tests and the table of docs/operations.md whether this hub serves the operation.
func Served(operationID string) bool { return handlers[operationID] != nil }

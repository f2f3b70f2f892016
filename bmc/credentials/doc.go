// Package credentials changes the password of a BMC, and its certificate, so that a
// program that is killed at any moment leaves a BMC behind that a stored password
// opens. What is decided stands in packages rotation and certificate, which talk to
// nobody; a [Rotator] does it, one effect at a time, each noted before and after.
//
// What Kubernetes, the BMC and Ironic do are small interfaces: [Store], [BMC], [Node].
// Package redfish has the BMC's, over bmc/client. A [Gate] bounds how many changes are
// under way at once. No secret is in an error, a log line or a condition.
package credentials

// Package redfish does at a BMC what package credentials decides: it finds the
// account, changes its password, proves a login, and has a certificate made and
// replaced, all through bmc/client. A [Host] is one BMC of the pool.
//
// What it mostly does is to say what became of a request: whether a change that failed
// was never sent, was refused, or may have worked after all. When in doubt it says the
// last, and the new password is found out about by logging in.
package redfish

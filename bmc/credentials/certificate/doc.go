// Package certificate decides how the certificate of a BMC's web server is replaced by
// one of a given issuer. [Decide] is a pure function of what was [Observed] and of the
// [Record]; package credentials does what it says. The key never leaves the BMC: it
// makes a request, the issuer signs it, the BMC takes the certificate, and a new
// handshake shows whether it is served. Only then trust is switched to it.
//
// Every step can be repeated: a request that was lost is made anew, and a certificate
// that may have been taken is looked for by a handshake before it is sent again.
package certificate

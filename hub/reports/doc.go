// Package reports takes what agents report: replies to steps, stages of an
// installation. What a reply means is in its host's record afterwards; what
// follows from that is package settle's. The main type is [Reports].
package reports

// Package scrape guards the metrics listener: it asks the Kubernetes API who the
// bearer of a token is (TokenReview), and whether that user may read the path
// (SubjectAccessReview), as the API server does for its own metrics. It stands in
// for controller-runtime's filter of the same purpose, without the API server's
// packages, which would more than double what this program is made of. Its main
// type is [Guard].
package scrape

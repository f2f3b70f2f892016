#!/usr/bin/env bash
# Every package has a package comment.
set -euo pipefail
missing=$(go list -tags e2e -f '{{if and (not .Doc) .GoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v '^$' || true)
[ -z "$missing" ] || { printf 'packages without a package comment:\n%s\n' "$missing" >&2; exit 1; }

#!/usr/bin/env bash
# Runs tools/sbom, which writes the software bill of materials of an image or an archive. Paths are absolute.
#   sbom.sh --name NAME --version VERSION [--type container] --out FILE PLACE=FILE...
set -euo pipefail
cd "$(dirname "$0")/../../tools/sbom"
CGO_ENABLED=0 GOFLAGS=-trimpath GOOS='' GOARCH='' go run . "$@"

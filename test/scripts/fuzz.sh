#!/usr/bin/env bash
# Runs every fuzz target of the repository for the given time, one after the other.
set -euo pipefail
time=${1:-1m}
for dir in $(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{print $2}' | sort -u); do
    echo "fuzz $dir $target for $time"
    go test -run '^$' -fuzz "^${target}\$" -fuzztime "$time" -fuzzminimizetime 5s "$dir"
  done
done

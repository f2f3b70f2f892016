#!/bin/sh
# A container engine that has the release's image already: the agent asks whether it is there, and how large it is.
case "$1 $2" in
  "image exists") ;;
  "image inspect") echo 400000000 ;;
  *) echo "podman $*: this live system has no container engine" >&2; exit 125 ;;
esac

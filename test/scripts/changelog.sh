#!/usr/bin/env bash
# Checks that CHANGELOG.md is ready for a release: its first heading of the second level is the release's number.
#   changelog.sh VERSION FILE
# What is made before a release, such as v0.1.0-rc.1, may also be of what is not released yet.
set -euo pipefail
version=${1:?usage: changelog.sh VERSION FILE} file=${2:?usage: changelog.sh VERSION FILE}
number=${version#v} number=${number%%-*}
first=$(sed -n '/^## /{s///p;q}' "$file")
[ "$first" = "$number" ] && exit 0
[[ $version == *-* && $first == "Not released yet" ]] && exit 0
echo "ironflow: $file begins with '## $first': before $version is made, its first heading has to be '## $number'" >&2
exit 1

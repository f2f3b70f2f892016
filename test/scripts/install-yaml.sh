#!/usr/bin/env bash
# Writes what `kubectl apply -f` installs Ironflow with, from the chart: install.yaml, and apart from it crds.yaml, which is for `kubectl create -f`, so that
# definitions that are newer in the cluster stay.
set -euo pipefail
helm=${1:?usage: install-yaml.sh HELM FOLDER [ARGUMENT-OF-HELM...]}
out=${2:?usage: install-yaml.sh HELM FOLDER [ARGUMENT-OF-HELM...]}
shift 2
chart=$(dirname "$0")/../../config/chart
# Values of the site are all that counts, as for helm: on top of defaults.yaml they would install something else, such as no NetworkPolicy.
values=(--values "$chart/overlays/defaults.yaml")
for argument in "$@"; do
  case $argument in --values | --values=* | -f) values=() ;; esac
done
mkdir -p "$out"
{
  cat "$chart/../manager/namespace.yaml"
  "$helm" template ironflow "$chart" --namespace ironflow-system --kube-version 1.30.0 ${values[@]+"${values[@]}"} "$@" 2> >(grep -v 'found symbolic link' >&2)
} > "$out/install.yaml.new"
"$helm" show crds "$chart" 2> >(grep -v 'found symbolic link' >&2) > "$out/crds.yaml.new"
mv "$out/install.yaml.new" "$out/install.yaml"
mv "$out/crds.yaml.new" "$out/crds.yaml"

{{/* The name of everything: the release's, if it says what it is. */}}
{{- define "ironflow.name" -}}
{{- if contains "ironflow" .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-ironflow" .Release.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end }}

{{- define "ironflow.serviceAccount" -}}{{ include "ironflow.name" . }}-controllers{{- end }}

{{- define "ironflow.selector" -}}
app.kubernetes.io/name: {{ include "ironflow.name" . }}
{{- end }}

{{- define "ironflow.image" -}}
{{- if .Values.image.digest -}}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end }}

{{/* true or empty: whether a Service of its own leads machines here. */}}
{{- define "ironflow.serviceForMachines" -}}
{{- if and .Values.features.hub.enabled (has .Values.exposure.type (list "loadBalancer" "nodePort")) -}}true{{- end -}}
{{- end }}

{{/*
The rules of files/role.yaml, which is made of what the code says, for the features that are on. scope is cluster for kinds
without a namespace, namespace for the others, all for both.
*/}}
{{- define "ironflow.rules" -}}
{{- $root := .root -}}{{- $scope := .scope -}}
{{- $groups := list -}}{{- $kinds := list -}}
{{- if not $root.Values.features.hub.enabled -}}{{- $groups = concat $groups (list "agent-install.openshift.io" "extensions.hive.openshift.io" "hive.openshift.io") -}}{{- end -}}
{{- if not $root.Values.features.bmc.enabled -}}{{- $groups = append $groups "ironflow.io" -}}{{- end -}}
{{- if not $root.Values.features.hostClaims.enabled -}}{{- $kinds = concat $kinds (list "hostclaims" "hostdeploypolicies") -}}{{- end -}}
{{- $without := list "namespaces" "clusterimagesets" "tokenreviews" "subjectaccessreviews" "customresourcedefinitions" -}}
{{- $rules := list -}}
{{- range (fromYaml ($root.Files.Get "files/role.yaml")).rules -}}
  {{- if not (has (first .apiGroups) $groups) -}}
    {{- $resources := list -}}
    {{- range .resources -}}
      {{- $kind := first (splitList "/" .) -}}
      {{- $here := or (eq $scope "all") (eq (has $kind $without) (eq $scope "cluster")) -}}
      {{- if and $here (not (has $kind $kinds)) -}}{{- $resources = append $resources . -}}{{- end -}}
    {{- end -}}
    {{- $names := list -}}
    {{- range .resourceNames -}}
      {{- $kind := first (splitList "." .) -}}
      {{- if not (or (has $kind $kinds) (has (trimPrefix (printf "%s." $kind) .) $groups)) -}}{{- $names = append $names . -}}{{- end -}}
    {{- end -}}
    {{- $rule := dict "apiGroups" .apiGroups "resources" $resources "verbs" .verbs -}}
    {{- if $names -}}{{- $rule = set $rule "resourceNames" $names -}}{{- end -}}
    {{- /* A rule whose names are all left out would be one for all names. */ -}}
    {{- if and $resources (or $names (not .resourceNames)) -}}{{- $rules = append $rules $rule -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{ toYaml $rules }}
{{- end }}

{{/* Features that create Secrets, by the names of their roles: features of the values that are on, separated by spaces. */}}
{{- define "ironflow.secretFeatures" -}}
{{- if .Values.features.hostClaims.enabled }}hostclaims {{ end -}}
{{- if .Values.features.bmc.rotation.enabled }}bmc-rotation {{ end -}}
{{- if .Values.features.clusterCredentials.enabled }}cluster-credentials{{ end -}}
{{- end }}

{{/* The ports of the container by their numbers, of those that serve. */}}
{{- define "ironflow.ports" -}}
{{- if .Values.features.hub.enabled }}
- {name: hub, containerPort: 8090}
{{- if eq .Values.exposure.type "ingress" }}
- {name: hub-plain, containerPort: 8091}
{{- end }}
- {name: images, containerPort: 8080}
- {name: images-tls, containerPort: 8443}
{{- if .Values.exposure.bmcEventsURL }}
- {name: bmc-events, containerPort: 8092}
{{- end }}
{{- end }}
- {name: metrics, containerPort: 9443}
- {name: health, containerPort: 9440}
{{- end }}

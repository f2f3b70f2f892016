{{/* The environment: what the values say, then what settings say. */}}
{{- define "ironflow.env" -}}
{{- $env := dict "IRONIC_ENDPOINT" .Values.ironic.endpoint "WATCH_NAMESPACE" (join "," .Values.watchNamespaces) -}}
{{- with .Values }}
{{- if .ironic.insecure }}{{ $_ := set $env "IRONIC_INSECURE" "true" }}{{ end -}}
{{- if .features.hostClaims.enabled }}{{ $_ := set $env "IRONFLOW_HOSTCLAIMS" "true" }}{{ end -}}
{{- if .features.bmc.enabled }}{{ $_ := set $env "IRONFLOW_BMC" "true" }}{{ end -}}
{{- if .exposure.machinesInCluster }}{{ $_ := set $env "IRONFLOW_MACHINES_IN_CLUSTER" "true" }}{{ end -}}
{{- if .exposure.bmcEventsURL }}
{{- $_ := set $env "IRONFLOW_BMC_EVENTS_ADDR" ":8092" }}{{ $_ := set $env "IRONFLOW_BMC_EVENTS_PUBLISH_URL" .exposure.bmcEventsURL -}}
{{- end -}}
{{- if .features.hub.enabled }}{{ include "ironflow.env.hub" (dict "Values" . "env" $env) }}{{ end -}}
{{- range $name, $value := dict "DEPLOY_ISO_URL" .liveImage.isoURL "DEPLOY_KERNEL_URL" .liveImage.kernelURL "DEPLOY_RAMDISK_URL" .liveImage.ramdiskURL }}{{ $_ := set $env $name $value }}{{ end -}}
{{- if .configuration }}{{ $_ := set $env "IRONFLOW_CONFIG" "/etc/ironflow/configuration/ironflow.yaml" }}{{ end -}}
{{- range $name, $value := .settings }}{{ $_ := set $env $name (toString $value) }}{{ end -}}
{{- end -}}
{{- range $name, $value := $env }}{{ if $value }}
{{ $name }}: {{ $value | quote }}
{{- end }}{{ end }}
{{- end }}

{{/* What the hub and the image server add to env. */}}
{{- define "ironflow.env.hub" -}}
{{- $env := .env -}}
{{- with .Values -}}
{{- $_ := set $env "IRONFLOW_DATA_DIR" "/var/lib/ironflow" -}}
{{- $_ := set $env "IRONFLOW_HUB_PUBLISH_URL" .exposure.hubURL -}}
{{- $_ := set $env "IRONFLOW_IMAGES_PUBLISH_URL" .exposure.imagesURL -}}
{{- $_ := set $env "IRONIC_BASE_URL" .ironic.machinesURL -}}
{{- $_ := set $env "IRONIC_AGENT_IMAGE" .liveImage.agentImage -}}
{{- $_ := set $env "IRONFLOW_DATABASE" .database.url -}}
{{- $_ := set $env "IRONFLOW_FILES" .files.url -}}
{{- $_ := set $env "S3_ENDPOINT_URL" .files.endpoint -}}
{{- if .liveImage.agentForeign }}{{ $_ := set $env "IRONFLOW_IRONIC_AGENT_FOREIGN" "true" }}{{ end -}}
{{- if eq .exposure.type "ingress" }}{{ $_ := set $env "IRONFLOW_HUB_PLAIN_ADDR" ":8091" }}{{ end -}}
{{- if .baseImages.volume.enabled }}{{ $_ := set $env "DEPLOY_ISO" "/images" }}{{ end -}}
{{- if .baseImages.list }}{{ $_ := set $env "IRONFLOW_BASE_IMAGE_LIST" "/etc/ironflow/base-images/images.yaml" }}{{ end -}}
{{- if .database.passwordSecret }}{{ $_ := set $env "IRONFLOW_DATABASE_PASSWORD_FILE" "/etc/ironflow/database/password" }}{{ end -}}
{{- if .files.credentialsSecret }}{{ $_ := set $env "IRONFLOW_FILES_CREDENTIALS_FILE" "/etc/ironflow/files/credentials" }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "ironflow.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- with .Values }}
{{- if .features.hub.enabled }}
- {name: data, mountPath: /var/lib/ironflow}
{{- if .baseImages.volume.enabled }}
- {name: images, mountPath: /images}
{{- end }}
{{- if .baseImages.list }}
- {name: base-images, mountPath: /etc/ironflow/base-images, readOnly: true}
{{- end }}
{{- if .database.passwordSecret }}
- {name: database, mountPath: /etc/ironflow/database, readOnly: true}
{{- end }}
{{- if .files.credentialsSecret }}
- {name: files, mountPath: /etc/ironflow/files, readOnly: true}
{{- end }}
{{- end }}
{{- if .ironic.authSecret }}
- {name: ironic-auth, mountPath: /opt/metal3/auth/ironic, readOnly: true}
{{- end }}
{{- if .ironic.caSecret }}
- {name: ironic-ca, mountPath: /opt/metal3/certs/ca, readOnly: true}
{{- end }}
{{- if .ironic.clientCertSecret }}
- {name: ironic-client, mountPath: /opt/metal3/certs/client, readOnly: true}
{{- end }}
{{- if .configuration }}
- {name: configuration, mountPath: /etc/ironflow/configuration, readOnly: true}
{{- end }}
{{- with .extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "ironflow.volumes" -}}
- name: tmp
  emptyDir: {}
{{- $name := include "ironflow.name" . }}
{{- with .Values }}
{{- if .features.hub.enabled }}
- name: data
  persistentVolumeClaim:
    claimName: {{ .data.existingClaim | default (printf "%s-data" $name) }}
{{- if .baseImages.volume.enabled }}
- name: images
  persistentVolumeClaim:
    claimName: {{ .baseImages.volume.existingClaim | default (printf "%s-images" $name) }}
{{- end }}
{{- if .baseImages.list }}
- name: base-images
  configMap: {name: {{ $name }}-base-images}
{{- end }}
{{- if .database.passwordSecret }}
- name: database
  secret: {secretName: {{ .database.passwordSecret }}}
{{- end }}
{{- if .files.credentialsSecret }}
- name: files
  secret: {secretName: {{ .files.credentialsSecret }}}
{{- end }}
{{- end }}
{{- /* Optional, since an Ironic may have neither; the program says what it lacks. */}}
{{- if .ironic.authSecret }}
- name: ironic-auth
  secret: {secretName: {{ .ironic.authSecret }}, optional: true}
{{- end }}
{{- if .ironic.caSecret }}
- name: ironic-ca
  secret: {secretName: {{ .ironic.caSecret }}, optional: true}
{{- end }}
{{- if .ironic.clientCertSecret }}
- name: ironic-client
  secret: {secretName: {{ .ironic.clientCertSecret }}}
{{- end }}
{{- if .configuration }}
- name: configuration
  configMap: {name: {{ $name }}-configuration}
{{- end }}
{{- with .extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

# Ironflow. `make help` lists the targets; `make demo` and `make test` do all of their own set-up.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN      := $(CURDIR)/bin
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# One way of compiling for programs and tests, so that nothing is compiled twice.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath
LDFLAGS  := -s -w -X github.com/ironflow/ironflow/api/version.release=$(VERSION)
# A lazier garbage collection: the compiler needs 15 % less time for large packages.
HASTE    := GOGC=400 GOMEMLIMIT=3GiB
GOBUILD  := $(HASTE) go build -ldflags '$(LDFLAGS)'
PROGRAMS := ironflow ironflow-agent ironflow-agent-based ironflow-cluster ironflow-step kubectl-ironflow
GOTEST   := $(BIN)/gotestsum --format pkgname --hide-summary=skipped --
# Two packages at a time: one compiles while the other waits for its servers. `make lint` runs go vet in full.
TESTFLAGS ?= -p 2 -vet=off -timeout 25m

##@ General

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*##"} /^[a-zA-Z0-9_-]+:.*##/ {printf "  \033[36m%-16s\033[0m %s\n", $$1, $$2} /^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)}' $(MAKEFILE_LIST)

##@ See it work

# A cluster is of other parts than the rest: there it is the test's own way.
.PHONY: demo
demo: $(if $(filter 1 true yes,$(CLUSTER)),demo-cluster,demo-machines) ## Whole flow on simulated machines and a real Ironic: HOSTS=3 ONCE=1 FAULT=noboot|truncated-read|agent-dies|install|ironic-restart, MACHINE=1 with one whole virtual machine (needs root, cargo), EDGE=1 hosts that install themselves (as root: a systemd each), CLUSTER=1 a plain Kubernetes (needs root)

.PHONY: demo-machines
demo-machines: $(if $(filter 1 true yes,$(MACHINE)),need-root) $(if $(filter 1 true yes,$(EDGE)),edge-programs,lab-programs) $(if $(filter 1 true yes,$(MACHINE)),coreos-installer machine-programs)
	@$(BIN)/ironflow-lab demo --hosts '$(or $(HOSTS),3)' $(if $(filter 1 true yes,$(ONCE)),--once) $(if $(filter 1 true yes,$(MACHINE)),--machine) $(if $(FAULT),--fault '$(FAULT)') $(if $(filter 1 true yes,$(EDGE)),--edge)

# CI=true: what is missing is said, and nothing is skipped.
.PHONY: demo-cluster
demo-cluster: need-root lab-programs test-tools node-programs
	@CI=true IRONFLOW_BIN=$(BIN) go test -vet=off -count 1 -timeout 100m -tags e2e -run 'TestFromAHostToACluster' ./test/hub/kubernetes -v | grep --line-buffered -v '^\(=== \|--- PASS\|PASS\|ok\)'

.PHONY: lab
lab: lab-programs ## A site to work on by kubectl from a second terminal, until Ctrl-C: kube-apiserver, Ironic, Ironflow, machines and what to apply for them: HOSTS=3
	@$(BIN)/ironflow-lab site --hosts '$(or $(HOSTS),3)'

##@ Build

.PHONY: build
build: prerequisites ## Build all programs into bin/
	@for p in $(PROGRAMS); do echo "build $$p"; $(GOBUILD) -o $(BIN)/$$p ./cmd/$$p; done

# The lab's step program is the shipped one with the stand-in for systemd; nothing else differs.
.PHONY: lab-programs
lab-programs: prerequisites
	@bash test/scripts/prerequisites.sh python
	@echo "building Ironflow (the first time takes about 3 minutes on 2 cores)"
	@for p in ironflow ironflow-agent ironflow-agent-based ironflow-cluster kubectl-ironflow; do $(GOBUILD) -o $(BIN)/$$p ./cmd/$$p; done
	@$(GOBUILD) -o $(BIN)/ironflow-lab ./test/cmd/ironflow-lab
	@$(GOBUILD) -o $(BIN)/lab/ironflow-step ./test/cmd/ironflow-step
	@ln -sf ../ironflow-agent $(BIN)/lab/ironflow-agent

# Hosts that install themselves need neither a control plane nor Ironic.
.PHONY: edge-programs
edge-programs: prerequisites
	@echo "building Ironflow (the first time takes about 2 minutes on 2 cores)"
	@for p in ironflow ironflow-agent ironflow-agent-based; do $(GOBUILD) -o $(BIN)/$$p ./cmd/$$p; done
	@$(GOBUILD) -o $(BIN)/ironflow-lab ./test/cmd/ironflow-lab

# What a whole machine needs: Debian packages, the step as shipped.
.PHONY: machine-programs
machine-programs: need-root
	@bash test/scripts/machine-tools.sh
	@$(GOBUILD) -o $(BIN)/ironflow-step ./cmd/ironflow-step

.PHONY: prerequisites
prerequisites:
	@bash test/scripts/prerequisites.sh go

.PHONY: need-root
need-root:
	@bash test/scripts/prerequisites.sh root 'make $(firstword $(MAKECMDGOALS))'

.PHONY: need-e2e
need-e2e: need-root
	@bash test/scripts/prerequisites.sh python
	@bash test/scripts/prerequisites.sh cargo

# The context holds the binary and the links of its names. podman does as well: ENGINE=podman.
.PHONY: agent-image
agent-image: prerequisites ## Build the agent's container image: ENGINE=buildah|podman IMAGE=ironflow-agent:VERSION
	@$(GOBUILD) -o $(BIN)/agent-image/bin/ironflow-agent ./cmd/ironflow-agent
	@$(BIN)/agent-image/bin/ironflow-agent install-links $(BIN)/agent-image/bin
	@$(or $(ENGINE),buildah) build --file cmd/ironflow-agent/Containerfile --tag '$(or $(IMAGE),ironflow-agent:$(VERSION))' $(BIN)/agent-image

.PHONY: cluster-image
cluster-image: prerequisites ## Build the image of the program inside a cluster: ENGINE=buildah|podman IMAGE=ironflow-cluster:VERSION
	@mkdir -p $(BIN)/cluster-image
	@$(GOBUILD) -o $(BIN)/cluster-image/ironflow-cluster ./cmd/ironflow-cluster
	@$(or $(ENGINE),buildah) build --file cmd/ironflow-cluster/Containerfile --tag '$(or $(IMAGE),ironflow-cluster:$(VERSION))' $(BIN)/cluster-image

# Static programs, and nothing of a distribution in them; that of ironic-python-agent is of Debian's packages and PyPI's.
.PHONY: images
images: prerequisites $(if $(COSIGN_KEY),$(BIN)/cosign) ## Build the container images with buildah, and a bill of materials for each: REGISTRY=registry.example/ironflow ARCHES="amd64 arm64" ENGINE=podman IMAGES="ironflow ironic-python-agent" DEBIAN_SOURCES=sources.list PUSH=1 COSIGN_KEY=cosign.key
	@VERSION='$(VERSION)' REGISTRY='$(REGISTRY)' ARCHES='$(ARCHES)' ENGINE='$(ENGINE)' PUSH='$(PUSH)' DEBIAN_SOURCES='$(DEBIAN_SOURCES)' COSIGN=$(BIN)/cosign COSIGN_KEY='$(COSIGN_KEY)' OUT=$(BIN)/images bash test/scripts/images.sh $(IMAGES)

# The chart is self-contained then: what is linked in its folder is in it.
.PHONY: chart
chart: $(BIN)/helm ## Package the Helm chart into bin/, with the release as its version: VERSION=v0.1.0
	@$(BIN)/helm package config/chart --destination $(BIN) --app-version '$(VERSION)' --version '$(patsubst v%,%,$(if $(filter v%,$(VERSION)),$(VERSION),0.0.0-$(VERSION)))'

.PHONY: install-yaml
install-yaml: $(BIN)/helm ## Write bin/install/install.yaml and crds.yaml from the chart: VALUES="site.yaml nodeport.yaml" IMAGE=registry.example/ironflow
	@bash test/scripts/install-yaml.sh $(BIN)/helm $(BIN)/install --set image.tag='$(VERSION)' $(if $(IMAGE),--set image.repository='$(IMAGE)') $(foreach file,$(VALUES),--values '$(file)')
	@echo "wrote bin/install/install.yaml and crds.yaml; docs/install.md says what to do with them"

.PHONY: release
release: prerequisites $(BIN)/helm $(if $(COSIGN_KEY),$(BIN)/cosign) ## Make a release into bin/release: programs, kubectl plugin with its Krew manifest, chart, manifests, alerts, images where buildah is, bills of materials, notes, checksums, signed by COSIGN_KEY: VERSION=v0.1.0 ARCHES="amd64 arm64" IMAGE=registry.example/ironflow/ironflow
	@VERSION='$(VERSION)' ARCHES='$(ARCHES)' IMAGE='$(IMAGE)' ENGINE='$(ENGINE)' COSIGN=$(BIN)/cosign COSIGN_KEY='$(COSIGN_KEY)' bash test/scripts/release.sh $(BIN)/helm $(BIN)/release

.PHONY: helm
helm: $(BIN)/helm ## Build helm, which packages the chart and which its tests run, once

.PHONY: krew
krew: $(BIN)/krew ## Build Krew, with which a test installs the kubectl plugin, once

.PHONY: cosign
cosign: $(BIN)/cosign ## Build cosign, which signs releases and images with a key of yours, once (about 3 minutes)

.PHONY: generate
generate: $(BIN)/controller-gen ## Regenerate deepcopy functions, wire types and documentation tables
	@go generate ./...
	@$(BIN)/controller-gen object paths=./api/...

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Regenerate the CRDs and RBAC rules below config/
	@bash test/scripts/manifests.sh $(BIN)/controller-gen

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format the code
	@$(BIN)/golangci-lint fmt ./...

.PHONY: lint
lint: $(BIN)/golangci-lint ## golangci-lint, go vet, go fix, generated files up to date
	@$(BIN)/golangci-lint run ./...
	@go vet -tags e2e,machine ./...
	@test -z "$$(go fix -diff ./... 2>/dev/null | head -c 1)" || { go fix -diff ./...; echo "go fix has changes: run 'go fix ./...'"; exit 1; }
	@cd tools/sbom && $(BIN)/golangci-lint run --config ../../.golangci.yml .
	@bash test/scripts/comments.sh

##@ Test

.PHONY: test-unit
test-unit: prerequisites $(BIN)/gotestsum ## Unit tests: no servers, no set-up
	@$(GOTEST) -short -timeout 10m ./...
	@cd tools/sbom && $(GOTEST) .

.PHONY: test
test: lab-programs test-tools s3-server helm krew $(BIN)/gotestsum ## Unit tests and the real parts: kube-apiserver, Ironic, a 2-host flow
	@$(BIN)/ironflow-lab prepare
	@IRONFLOW_BIN=$(BIN) $(GOTEST) $(TESTFLAGS) ./...
	@cd tools/sbom && $(GOTEST) .

.PHONY: test-postgres
test-postgres: s3-server $(BIN)/gotestsum ## The suite of the hub's REST API over a real PostgreSQL (that of the store and the core runs on both anyway)
	@IRONFLOW_TEST_DATABASE=postgres IRONFLOW_BIN=$(BIN) $(GOTEST) $(TESTFLAGS) ./hub/rest

# The oldest release of Kubernetes that docs/versions.md promises. Ironic's is tested where it is named: inspection on it
# does not end yet.
OLDEST_KUBERNETES := 1.30.14
OLDEST_IRONIC     := 24.0.0
.PHONY: test-versions
test-versions: lab-programs test-tools helm $(BIN)/gotestsum ## What another release of Kubernetes or Ironic can break, on the oldest Kubernetes: KUBERNETES=1.30.14 IRONIC=24.0.0
	@KUBERNETES='$(if $(KUBERNETES)$(IRONIC),$(KUBERNETES),$(OLDEST_KUBERNETES))' IRONIC='$(IRONIC)' \
		IRONFLOW_BIN=$(BIN) bash test/scripts/versions.sh $(GOTEST)

# What cannot be built or installed is found out first, before anything runs for an hour. No result is taken from the cache of an
# earlier run: these tests start programs, and Go does not see what these read.
.PHONY: test-e2e
test-e2e: need-e2e coreos-installer nmstatectl e2e-tools s3-server helm krew cosign lab-programs node-programs $(BIN)/gotestsum ## Whole flows, faults, real IPA, real systemd, boots in QEMU (needs root, cargo)
	@$(BIN)/ironflow-lab prepare --ipa
	@$(MAKE) --no-print-directory test-ipa
	@IRONFLOW_BIN=$(BIN) $(GOTEST) -p 2 -vet=off -count 1 -timeout 90m -tags e2e ./...
	@echo "two cases move the computer's clock for two seconds, so they run alone"
	@IRONFLOW_MOVE_CLOCK=1 IRONFLOW_BIN=$(BIN) $(GOTEST) -timeout 10m -tags e2e -run 'TestOnRealSystemd/^clock' ./test/steps
	@echo "one case times answers, so it runs alone"
	@IRONFLOW_ALONE=1 IRONFLOW_BIN=$(BIN) $(GOTEST) -timeout 10m -tags e2e -run TestAHostileHostBesideAThousand ./test/bench/hub

.PHONY: test-smoke
test-smoke: need-e2e coreos-installer nmstatectl e2e-tools lab-programs $(BIN)/gotestsum ## The few end-to-end cases that CI runs (needs root, cargo)
	@$(BIN)/ironflow-lab prepare --ipa
	@$(MAKE) --no-print-directory test-ipa
	@IRONFLOW_BIN=$(BIN) bash test/scripts/smoke.sh $(GOTEST)

# The images are built for it in a storage of its own. `make test-e2e` has it, too.
.PHONY: install-test
install-test: need-root test-tools helm lab-programs $(BIN)/gotestsum ## What `make images` builds, installed by the chart on the lab's cluster: three hosts from samples to installed and back, `ironflow check` in order and for planted faults (needs root, buildah)
	@$(BIN)/ironflow-lab prepare
	@IRONFLOW_BIN=$(BIN) $(BIN)/gotestsum --format testname -- -vet=off -count 1 -timeout 60m -tags e2e ./test/e2e

# What a Kubernetes node is made of takes long to build at the first time: only the flows that need it wait for it.
NODE_PROGRAMS := $(if $(FLOW),$(if $(findstring Kubernetes,$(FLOW))$(findstring NodeOfTheSource,$(FLOW)),node-programs),node-programs)

# Whoever waits for one flow sees how far it is: -p 1 shows what a test says while it runs. What a cluster has at its end is the last line.
ONE_FLOW = IRONFLOW_BIN=$(BIN) go test -vet=off -count 1 -p 1 -timeout 300m -tags machine -run '$(FLOW)' ./test/vm/flows ./test/vm/install ./test/vm/edge ./test/hub/agentbased -v | \
	sed --unbuffered -e '/^=== /d' -e '/^{"nodes":/{h;d}' -e '$$G'

# The flow of TestInstalled is the first part of one of TestFlows. The flows take most of the time, and wait in much of it:
# what tests the machine alone runs beside them.
.PHONY: test-machine
test-machine: need-root coreos-installer lab-programs machine-programs $(NODE_PROGRAMS) $(BIN)/gotestsum ## Whole machines in QEMU, their network and the flows on them (needs root, cargo): FLOW=TestInstalled|TestKubernetes|TestAgentBasedKubernetes|TestAgentBasedBesideContainers|TestFlows/disk/power_cut|TestMultipathDisk|...
	@$(BIN)/ironflow-lab prepare
	@$(if $(FLOW),$(ONE_FLOW),IRONFLOW_BIN=$(BIN) $(BIN)/gotestsum --format testname -- -p 2 -vet=off -timeout 300m -tags machine -skip '^TestInstalled$$' ./test/vm/... ./test/hub/agentbased)

.PHONY: test-ipa
test-ipa: ## The IPA plugin with the real ironic-python-agent (Python; part of test-e2e and test-smoke)
	@bash test/scripts/pytest.sh

.PHONY: coreos-installer
coreos-installer: prerequisites ## Build the real coreos-installer for the end-to-end tests, once (about 4 minutes; needs cargo)
	@bash test/scripts/prerequisites.sh cargo
	@bash test/scripts/coreos-installer.sh go run ./test/cmd/ironflow-lab

# One process builds while others wait; what was built once for these versions is used again.
.PHONY: node-programs
node-programs: prerequisites ## Build what a Kubernetes node is made of from the Go module proxy, once (about 15 minutes): kubelet, kubeadm, control plane, containerd, CNI plugins, CoreDNS
	@go run ./test/cmd/ironflow-lab node-programs

# No package of Debian 12 has it. Without cargo it is left out, and the test that needs it skips and says so; with CI=true that is an error.
.PHONY: nmstatectl
nmstatectl: prerequisites ## Build the real nmstatectl, with which our translation of networks is compared, once (about 3 minutes; needs cargo)
	@bash test/scripts/nmstatectl.sh go run ./test/cmd/ironflow-lab

# Debian packages behind some tests. Without root they are left out, and those tests skip and say so; with CI=true that is an error.
.PHONY: test-tools
test-tools:
	@bash test/scripts/test-tools.sh

.PHONY: s3-server
s3-server: $(BIN)/versitygw ## Build the server that speaks S3 for the tests of the hub's file store, once

.PHONY: e2e-tools
e2e-tools: test-tools
	@bash test/scripts/test-tools.sh dmsetup
	@bash test/scripts/boot-tools.sh

.PHONY: fuzz
fuzz: ## Fuzz every parser: FUZZTIME=10m
	@bash test/scripts/fuzz.sh $(or $(FUZZTIME),1m)

.PHONY: bench
bench: ## Go benchmarks
	@go test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-images
bench-images: ## The image server beside nginx (needs nginx-light)
	@go run ./test/bench/images

.PHONY: bench-steps
bench-steps: need-e2e coreos-installer test-tools ## The deploy step on a real systemd (needs root, cargo)
	@bash test/scripts/test-tools.sh dmsetup
	@go run ./test/bench/steps

# The last line is JSON. Stories of what it finds are replayed by TestStory of the same package.
.PHONY: model
model: prerequisites ## Histories of hosts, searched for one in which a machine is touched unasked: DURATION=2h USERS=2 FAULTS=2
	@MODEL_DURATION='$(or $(DURATION),10m)' MODEL_USERS='$(USERS)' MODEL_FAULTS='$(FAULTS)' go test -vet=off -count 1 -timeout 0 -run TestDeep ./test/model -v | grep --line-buffered -v '^\(=== RUN\|--- PASS\|PASS\|ok\)'

.PHONY: bench-fleet
bench-fleet: prerequisites ## A fleet on a real kube-apiserver and the Ironic simulator: HOSTS=1000 REST=1m
	@$(GOBUILD) -o $(BIN)/ironflow ./cmd/ironflow
	@$(GOBUILD) -o $(BIN)/bench-fleet ./test/bench/fleet
	@$(BIN)/bench-fleet --ironflow $(BIN)/ironflow --hosts '$(or $(HOSTS),1000)' --rest '$(or $(REST),1m)'

.PHONY: bench-bmc
bench-bmc: prerequisites ## What asking BMCs costs, with a simulated BMC for each host: HOSTS=1000
	@$(GOBUILD) -o $(BIN)/ironflow ./cmd/ironflow
	@$(GOBUILD) -o $(BIN)/bench-bmc ./test/bench/bmc
	@$(BIN)/bench-bmc --ironflow $(BIN)/ironflow --hosts '$(or $(HOSTS),1000)'

.PHONY: bench-agent
bench-agent: prerequisites need-root ## The host agent as shipped, and a fleet of them: AGENTS=2000 (needs root)
	@for p in ironflow ironflow-agent; do $(GOBUILD) -o $(BIN)/$$p ./cmd/$$p; done
	@$(GOBUILD) -o $(BIN)/bench-agent ./test/bench/hostagent
	@$(BIN)/bench-agent --ironflow $(BIN)/ironflow --agent $(BIN)/ironflow-agent --agents '$(or $(AGENTS),2000)'

.PHONY: bench-hub
bench-hub: prerequisites ## The hub with a simulated fleet, and clusters that are installed: AGENTS=10000 CLUSTERS=500 DATABASE=sqlite|postgres; CORES=1 is its boot alone, with the hub on one core; HOSTILE=1 AGENTS=1000 one more host that does its worst
	@$(GOBUILD) -o $(BIN)/ironflow ./cmd/ironflow
	@$(GOBUILD) -o $(BIN)/bench-hub ./test/bench/hub
	@$(BIN)/bench-hub --ironflow $(BIN)/ironflow --agents '$(or $(AGENTS),10000)' --clusters '$(or $(CLUSTERS),500)' --database '$(or $(DATABASE),sqlite)' --cores '$(or $(CORES),0)' $(if $(HOSTILE),--hostile)

.PHONY: bench-cluster
bench-cluster: prerequisites ## The program inside a cluster with many nodes, and strangers' signing requests: its size, its memory, its requests at rest: HOSTS=500 STRANGERS=10000 REST=10m
	@$(GOBUILD) -o $(BIN)/ironflow-cluster ./cmd/ironflow-cluster
	@$(GOBUILD) -o $(BIN)/bench-cluster ./test/bench/cluster
	@$(BIN)/bench-cluster --ironflow-cluster $(BIN)/ironflow-cluster --hosts '$(or $(HOSTS),500)' --strangers '$(or $(STRANGERS),10000)' --rest '$(or $(REST),10m)'

.PHONY: bench-edge
bench-edge: prerequisites ## The hub on node zero while hosts install themselves, its memory: HOSTS=3
	@for p in ironflow ironflow-agent ironflow-agent-based; do $(GOBUILD) -o $(BIN)/$$p ./cmd/$$p; done
	@$(GOBUILD) -o $(BIN)/bench-edge ./test/bench/edge
	@$(BIN)/bench-edge --bin $(BIN) --hosts '$(or $(HOSTS),3)'

##@ Housekeeping

.PHONY: clean
clean: ## Remove what was built here (the caches below ~/.cache/ironflow stay)
	@rm -rf $(BIN) .lab

$(BIN)/controller-gen: tools/build/go.mod
	@cd tools/build && $(HASTE) go build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(BIN)/gotestsum: tools/build/go.mod
	@cd tools/build && $(HASTE) go build -o $@ gotest.tools/gotestsum

$(BIN)/versitygw: tools/s3/go.mod
	@echo "building versitygw, the S3 server of the tests (about a minute the first time)"
	@cd tools/s3 && $(HASTE) go build -o $@ github.com/versity/versitygw/cmd/versitygw

$(BIN)/helm: tools/helm/go.mod
	@echo "building helm (about 2 minutes the first time)"
	@cd tools/helm && $(HASTE) go build -o $@ helm.sh/helm/v3/cmd/helm

$(BIN)/krew: tools/krew/go.mod
	@echo "building krew (half a minute the first time)"
	@cd tools/krew && $(HASTE) go build -o $@ sigs.k8s.io/krew/cmd/krew

$(BIN)/cosign: tools/cosign/go.mod
	@echo "building cosign (about 3 minutes the first time)"
	@cd tools/cosign && $(HASTE) go build -o $@ github.com/sigstore/cosign/v3/cmd/cosign

$(BIN)/golangci-lint: tools/lint/go.mod
	@echo "building golangci-lint (about 2 minutes the first time)"
	@cd tools/lint && $(HASTE) go build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Everything that one does with this repository. "make" alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMON  := github.com/prometheus/common/version
LDFLAGS := -s -w -X $(COMMON).Version=$(VERSION) \
	-X $(COMMON).Revision=$(shell git rev-parse --short HEAD 2>/dev/null) -X $(COMMON).Branch=$(shell git branch --show-current 2>/dev/null)
# grpcnotrace leaves x/net/trace out of grpc.
TAGS    := grpcnotrace
# The largest stripped binary that we accept, in bytes. The budget is 40 MB; this keeps the distance.
MAX_BINARY := 36000000
# The largest exec probe, in bytes: it is loaded at every run.
MAX_HEALTHCHECK := 3000000
# What the package vitals without templates adds to a program with net/http and client_golang at most, in bytes.
MAX_EMBEDDING := 8000000

# The platforms of a release.
PLATFORMS := linux/amd64,linux/arm64

# How long the soak runs. "make e2e" has one of 3 minutes.
SOAK_TIME ?= 30m

.PHONY: help run build image release test lint bench fuzz e2e soak cover

help: ## list the targets
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9]+):[^#]*## /\1\t/' | while IFS=$$'\t' read -r t d; do printf '  make %-7s %s\n' "$$t" "$$d"; done

run: build ## build, and run the demo: fakes of the Kubernetes API, Keystone and Neutron with buttons to break them; ARGS has its flags
	./bin/vitals demo $(ARGS)

build: ## build bin/vitals and bin/healthcheck, static and stripped, with their licences
	@mkdir -p bin
	@echo "building bin/vitals (the first build takes a minute or two)"
	CGO_ENABLED=0 $(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/vitals ./cmd/vitals
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/healthcheck ./cmd/healthcheck
	@cp LICENSE bin/LICENSE && deploy/notices.sh >bin/THIRD_PARTY_NOTICES

image: ## make dist/vitals-image.tar, an image for linux/amd64 and linux/arm64, without a Docker engine
	$(GO) run -C .ci/release . image -out=$(CURDIR)/dist/vitals-image.tar

release: ## make dist/: archives, deb, rpm, the images, lists of contents (SBOM) and SHA256SUMS; the same bytes each time
	rm -rf dist
	$(GO) run -C .ci/release . all -platforms=$(PLATFORMS) -out=$(CURDIR)/dist

test: ## run all tests that need no root, no network and no installed server
	.ci/test

lint: ## gofmt, vet, staticcheck, workflows, shell syntax, known vulnerabilities, and the sizes of the binaries
	@out=$$(git ls-files '*.go' | xargs gofmt -l); if [ -n "$$out" ]; then echo "not gofmt'ed: $$out"; exit 1; fi
	$(GO) vet -tags $(TAGS) ./...
	$(GO) vet -tags $(TAGS),e2e,guest ./e2e/...
	cd internal/oracle && $(GO) vet ./...
	cd internal/kubelet && $(GO) vet ./...
	cd .ci/release && $(GO) vet .
	cd internal/charts && $(GO) vet ./...
	$(GO) tool -modfile=.ci/tools/go.mod staticcheck -tags $(TAGS) ./...
	$(GO) tool -modfile=.ci/tools/go.mod actionlint -shellcheck= -pyflakes=
	@for f in $$(git ls-files '*.sh' .ci/binary .ci/demo .ci/fresh .ci/fuzz .ci/run .ci/test .ci/vulncheck e2e/run); do bash -n "$$f"; done
	.ci/vulncheck
	.ci/binary $(MAX_BINARY) $(MAX_HEALTHCHECK) $(MAX_EMBEDDING)

bench: ## run the benchmarks: ratios within one run, as in docs/design/performance.md
	$(GO) test -tags $(TAGS) -run '^$$' -bench . ./...

fuzz: ## fuzz every parser of foreign bytes for FUZZTIME (60s), as in docs/design/fuzzing.md; FUZZ=REGEXP selects
	.ci/fuzz

e2e: ## install what is needed (apt, root), start the real programs and run against them
	e2e/run

soak: ## run the program for SOAK_TIME (30m) under load, faults, reloads and steps of the clock: nothing may grow
	SOAK_TIME=$(SOAK_TIME) $(GO) test -tags $(TAGS),e2e -count=1 -timeout=24h -v -run '^TestSoak$$' ./e2e

cover: ## write coverage.html
	$(GO) test -tags $(TAGS) -coverprofile=coverage.out ./...
	$(GO) tool cover -html=coverage.out -o coverage.html
	@$(GO) tool cover -func=coverage.out | tail -1

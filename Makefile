# All that a contributor runs. `make help` lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

FUZZTIME ?= 10s

# Modules with code of ours. The lint rules and their file patterns are the root's for all of them.
MODULES := $(shell find . -name go.mod -not -path './tools/*' -not -path '*/programs/*' -exec dirname {} \;)
LINTER := go tool -modfile=$(CURDIR)/tools/go.mod golangci-lint

.PHONY: help test race lint fmt integration cluster bench fuzz mutants cover ci

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "%-12s %s\n", $$1, $$2 }'

test: ## run the tests
	go test ./...

race: ## run the tests with the race detector, in random order (needs gcc)
	go test -race -shuffle=on ./...

lint: ## check style, the import direction and the forbidden calls (the first run builds the linter: minutes)
	@for module in $(MODULES); do (cd $$module && $(LINTER) run ./...); done

fmt: ## format the code
	@for module in $(MODULES); do (cd $$module && $(LINTER) fmt ./...); done

integration: ## run the tests against a real control plane (the first run builds it: ten minutes)
	cd integration && go run ./cmd/controlplane -build && go test -count=1 -timeout=20m ./...

cluster: ## start a control plane to try things on, until interrupted
	cd integration && go run ./cmd/controlplane

bench: ## run the benchmarks
	go test -run='^$$' -bench=. -benchmem ./...

fuzz: ## run each fuzz test for FUZZTIME (10s)
	@for package in $$(go list ./...); do \
		for test in $$(go test -list='^Fuzz' $$package | grep '^Fuzz' || true); do \
			go test -run='^$$' -fuzz="^$$test$$" -fuzztime=$(FUZZTIME) $$package; \
		done; \
	done

mutants: ## plant bugs one by one and see that a test catches each (ten minutes)
	MUTANTS=1 go test -v -count=1 -timeout=30m ./internal/mutants

cover: ## write cover.out and check that elector, events and locks are covered
	go test -coverprofile=cover.out -coverpkg=./elector/...,./events/...,./locks/... ./...
	.ci/checks/coverage cover.out

ci: ## run all that CI runs
	.ci/run

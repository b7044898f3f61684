# weir: `make check` runs everything; each part can be run alone.
SHELL := /bin/bash
.DELETE_ON_ERROR:

GO      ?= go
TOOL     = $(GO) tool -modfile=tools/go.mod
# What is tested once more under the race detector: all but the SDKs whose tests mostly wait for compilers of other languages. Of the
# command, what runs at a terminal and over pipes in this process: its scripts start programs, one after the other.
RACE    ?= $$($(GO) list ./... | grep -v '/guest-sdk/\(assemblyscript\|extism\|rust\|zig\)\|/cmd/weir$$')
RACECLI  = Chat|RPC|Terminal|Ctrl|Keyboard|Resume|Prompter
BENCH   ?= .
FUZZTIME ?= 30s

.PHONY: build test check fmt tidy vet lint race guests bench bench-once fuzz quality

build: ## the CLI, into bin/; without C it starts faster, which `weir hook` does for every call
	CGO_ENABLED=0 $(GO) build -o bin/weir ./cmd/weir

test:
	$(GO) test ./...

check: fmt tidy vet lint race guests bench-once ## all that CI runs, cheap first

fmt:
	@out=$$($(TOOL) gofumpt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted (gofumpt -w):"; echo "$$out"; exit 1; fi

tidy:
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff
	$(GO) mod verify

vet: ## host on three systems, guests on wasip1
	$(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=wasip1 GOARCH=wasm $(GO) vet ./guest-sdk/go/...

lint:
	$(TOOL) staticcheck ./...
	$(TOOL) golangci-lint run ./...

race:
	$(GO) test -race -shuffle=on -timeout 30m $(RACE)
	$(GO) test -race -shuffle=on -timeout 20m -run '$(RACECLI)' ./cmd/weir

guests: ## rebuild every committed .wasm and compare
	WEIR_REQUIRE_GUESTS=1 $(GO) test -count=1 -run 'Rebuild|Match.*Source|Reproducible' ./extensions/... ./guest-sdk/... ./wasmhost/... ./cmd/...

bench: ## benchmarks with their peers, as benchstat input, and the ratios
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count 5 ./... | tee bench.out
	$(GO) run ./internal/benchratio bench.out

bench-once: ## each benchmark once, so that none rots
	$(GO) test -run '^$$' -bench . -benchtime 1x ./... > /dev/null

fuzz: ## every fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
	  done; done

quality: ## escapes and false alarms of the bundled extensions on the labelled cases in $WEIR_SHARED
	$(GO) run ./internal/quality

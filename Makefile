# Parley. `make` shows the targets. Only Go, make and git are needed; everything else is optional and said when missing.

SHELL := /bin/sh
.DEFAULT_GOAL := help

# Go keeps its caches below HOME. Where there is none, or one that can't be written, keep them here.
ifneq ($(shell test -n "$$HOME" && test -d "$$HOME" && test -w "$$HOME" && echo ok),ok)
export HOME := $(CURDIR)/.cache/home
endif

PKGS ?= ./...
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOLS := $(CURDIR)/.tools

.PHONY: help
help: ## show this
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: playground
playground: compile ## run the bot, a simulated Discord and an offline model on this machine
	@exec bin/bot playground $(ARGS)

.PHONY: run
run: compile ## run the bot on Discord; needs DISCORD_TOKEN and a model, see .env.example
	@exec bin/bot run $(ARGS)

# Not `go run`: it would stand between the bot and a stop signal, and leave the bot running when it is stopped itself.
.PHONY: compile
compile:
	@CGO_ENABLED=0 go build -ldflags "-X main.version=$(VERSION)" -o bin/bot ./cmd/bot

.PHONY: build
build: ## build bin/bot as it is released: static, stripped, reproducible
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/bot ./cmd/bot

# The race detector needs a C compiler that works, not just one that is there. REQUIRE_SERVICES=1, as in CI, accepts
# neither its absence nor a missing server.
.PHONY: test
test: ## run the tests; PKGS=./turn/... for some, REQUIRE_SERVICES=1 to accept no skipped server
	@go run ./internal/servicecheck
	@race=; dir=$$(mktemp -d); echo 'int main(void) { return 0; }' > "$$dir/x.c"; \
	if [ "$$(go env CGO_ENABLED)" = 1 ] && $$(go env CC) -o "$$dir/x" "$$dir/x.c" >/dev/null 2>&1; then race=-race; fi; \
	rm -rf "$$dir"; \
	if [ -z "$$race" ]; then \
		echo "race detector: off, since there is no working C compiler"; \
		if [ "$$REQUIRE_SERVICES" = 1 ]; then echo "race detector: required"; exit 1; fi; \
	else echo "race detector: on"; fi; \
	echo "go test $$race -shuffle=on $(TESTFLAGS) $(PKGS)"; \
	report=$$(mktemp); TEST_REPORT=$$report go test $$race -shuffle=on $(TESTFLAGS) $(PKGS); code=$$?; \
	sort "$$report" | awk -F '\t' "$$LAY_OUT"; rm -f "$$report"; exit $$code

# What the tests report: lines as they are, the engines' parts of the conformance suite as one table, and last of all, each
# once, what was skipped.
define LAY_OUT
NF < 3 { if (told[$$0]++) next; if (/SKIPPED: /) skipped[++s] = $$0; else print; next }
{ engine = $$1; sub(/:.*/, "", engine) }
!(engine in seen) { seen[engine] = 1; engines[++n] = engine }
!($$2 in seen) { seen[$$2] = 1; parts[++m] = $$2 }
{ result[$$2, engine] = $$3 }
END {
	if (m) { printf "%-20s", "conformance"; for (i = 1; i <= n; i++) printf "%-10s", engines[i]; print "" }
	for (j = 1; j <= m; j++) {
		printf "%-20s", parts[j]
		for (i = 1; i <= n; i++) printf "%-10s", result[parts[j], engines[i]]
		print ""
	}
	for (i = 1; i <= s; i++) print skipped[i]
}
endef
export LAY_OUT

.PHONY: check
check: $(TOOLS)/golangci-lint $(TOOLS)/gofumpt $(TOOLS)/sqlc ## format, lint, vet, tidy, generated queries: what must be clean before a commit
	@bad=$$($(TOOLS)/gofumpt -l $$(git ls-files '*.go')) || exit 1; \
	if [ -n "$$bad" ]; then echo "not formatted, run make format:"; echo "$$bad"; exit 1; fi
	$(TOOLS)/golangci-lint run $(PKGS)
	go vet $(PKGS)
	go mod tidy -diff
	@cd store/postgres && $(TOOLS)/sqlc diff || { echo "the queries' Go is not what their SQL says: run make queries"; exit 1; }

.PHONY: queries
queries: $(TOOLS)/sqlc ## write the Go of store/postgres/queries from its SQL
	cd store/postgres && $(TOOLS)/sqlc generate

.PHONY: format
format: $(TOOLS)/gofumpt ## rewrite the Go files as gofumpt wants them
	$(TOOLS)/gofumpt -w $$(git ls-files '*.go')

# Tools come from tools.mod, so that the product's go.mod lists only what the product links.
$(TOOLS)/golangci-lint: tools.mod tools.sum
	@echo "building golangci-lint (about a minute, once)"
	@GOBIN=$(TOOLS) CGO_ENABLED=0 go install -modfile=tools.mod github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

$(TOOLS)/gofumpt: tools.mod tools.sum
	@GOBIN=$(TOOLS) CGO_ENABLED=0 go install -modfile=tools.mod mvdan.cc/gofumpt
	@touch $@

# Without cgo it reads PostgreSQL's own parser as WebAssembly, so it is built like the others, without a C compiler.
$(TOOLS)/sqlc: tools.mod tools.sum
	@echo "building sqlc (about a minute, once)"
	@GOBIN=$(TOOLS) CGO_ENABLED=0 go install -modfile=tools.mod github.com/sqlc-dev/sqlc/cmd/sqlc
	@touch $@

.PHONY: bench
bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem $(TESTFLAGS) $(PKGS)

# Soak tests are named TestSoak... and skip themselves unless SOAK=1.
.PHONY: soak
soak: ## run the long counts that the tests run short
	@git grep -q 'func TestSoak' -- '*_test.go' || { echo "there is no soak test (func TestSoak...) yet"; exit 1; }
	SOAK=1 go test -run '^TestSoak' -count=1 -timeout 60m -v $(TESTFLAGS) $(PKGS)

.PHONY: clean
clean: ## remove what was built here; the bot's data stays
	rm -rf bin .tools

# syntax=docker/dockerfile:1
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/bot ./cmd/bot \
 && mkdir -p /out/data

# Nothing but the binary, the certificate authorities it trusts and an empty folder it may write.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/bot /bot
COPY --from=build --chown=65532:65532 /out/data /data
ENV DATA_DIR=/data
USER 65532:65532
VOLUME /data
# There is no HEALTHCHECK: an image without a shell needs the binary to check itself, and it has no such command yet.
ENTRYPOINT ["/bot"]
CMD ["run"]
